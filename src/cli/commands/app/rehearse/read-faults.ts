import { UpshotError } from '../../../../core/errors.ts'
import { parseDuration } from '../../../../core/time.ts'
import { FAULT_TARGETS, type FaultInput, faultInput } from '../../../../sandbox/faults/fault-rule.ts'

/** A fault as a person wrote it. */
export interface OrderedFault {
  text: string
  rule: FaultInput
}

const WORDS: Readonly<Record<string, Partial<FaultInput>>> = {
  reset: { reset: true },
  garbage: { garbage: true },
  html: { html: true },
  cut: { cutAfterBytes: 1 },
  stall: { stallAfterBytes: 1 },
  afterwards: { afterwards: true },
  drop: { drop: true },
  duplicate: { duplicate: true },
  reorder: { reorder: true },
  tamper: { tamper: true },
}
const FIX = `Write a place, what happens and how often, such as "files.delete 503 x2, download cut x1".
Places: *, ${FAULT_TARGETS.join(', ')}.
What: a status, a delay such as 2s, ${Object.keys(WORDS).join(', ')}.`

/** Reads orders such as `files.delete 503 ×2, download cut`. Throws `invalid_request`. */
export function readFaults(orders: readonly string[]): OrderedFault[] {
  return orders
    .flatMap((order) => order.split(','))
    .map((each) => each.trim())
    .map((text) => ({ text, rule: readFault(text) }))
}

function readFault(text: string): FaultInput {
  const [on = '', ...words] = text.split(/\s+/)
  const given = Object.assign({ on }, ...words.map((word) => readWord(word, on, text)))
  const { data, error } = faultInput.safeParse(given)
  if (data !== undefined) return data
  const [issue] = error.issues
  const known = on === '*' || FAULT_TARGETS.some((target) => target === on)
  throw refuse(text, known ? (issue?.message ?? 'it is no rule') : `there is no place "${on}"`)
}

function readWord(word: string, on: string, text: string): Partial<FaultInput> {
  const [, times] = /^[×x](\d{1,6})$/.exec(word) ?? []
  if (times !== undefined) return { times: Number(times) }
  if (/^\d{3}$/.test(word)) return { status: Number(word) }
  const known = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined
  return known ?? (on === 'delivery' ? { delayMs: readDelay(word, text) } : { latencyMs: readDelay(word, text) })
}

function readDelay(word: string, text: string): number {
  try {
    return parseDuration(word)
  } catch {
    throw refuse(text, `"${word}" is no word of a fault`)
  }
}

function refuse(text: string, why: string): UpshotError {
  return new UpshotError('invalid_request', `--faults "${text}": ${why}.`, { details: { fix: FIX } })
}
