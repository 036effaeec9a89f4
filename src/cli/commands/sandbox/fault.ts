import { UpshotError } from '../../../core/errors.ts'
import { parseJson } from '../../../core/json.ts'
import { parseDuration } from '../../../core/time.ts'
import { FAULT_TARGETS, type Fault, type FaultInput, faultInput } from '../../../sandbox/faults/fault-rule.ts'
import type { Column } from '../../terminal/table.ts'
import { atSandbox, isRehearsal, sandboxCommand, showRows } from './sandbox-command.ts'

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
const FIX = `Write a target, what happens and how often, such as "files.delete 503 x2" or "download cut x1".
Targets: *, ${FAULT_TARGETS.join(', ')}.
Faults: a status, a delay such as 2s, ${Object.keys(WORDS).slice(0, 5).join(', ')},
${Object.keys(WORDS).slice(5).join(', ')}.
Also: probability=0.5, skip=3, cutAfterBytes=9, stallAfterBytes=9, bytesPerSecond=9,
contradictRateHeaders=true, and for deliveries type=file.* and signature=bad or stale.`

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
  throw refuse(text, known ? (issue?.message ?? 'it is no rule') : `there is no target "${on}"`)
}

function readWord(word: string, on: string, text: string): Partial<FaultInput> {
  const [, times] = /^[×x](\d{1,6})$/.exec(word) ?? []
  if (times !== undefined) return { times: Number(times) }
  if (/^\d{3}$/.test(word)) return { status: Number(word) }
  const [, name, value = ''] = /^(\w+)=(.+)$/.exec(word) ?? []
  if (name !== undefined) return { [name]: parseJson(value) ?? value }
  const known = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined
  return known ?? (on === 'delivery' ? { delayMs: readDelay(word, text) } : { latencyMs: readDelay(word, text) })
}

function readDelay(word: string, text: string): number {
  try {
    return parseDuration(word)
  } catch {
    throw refuse(text, `"${word}" is not part of a fault`)
  }
}

function refuse(text: string, why: string): UpshotError {
  return new UpshotError('invalid_request', `The fault "${text}": ${why}.`, { fix: FIX })
}

export const add = sandboxCommand(
  (command) =>
    command
      .argument('<words...>', 'where, what and how often, such as: files.delete 503 x2')
      .addHelpText('after', `\n${FIX}`),
  async ({ out, sandbox }, _, words) => {
    const text = words.join(' ')
    const rule = readFault(text)
    if (isRehearsal(out, `add the fault ${text}`)) return
    const fault = await sandbox.post<Fault>('/faults', rule)
    out.result(fault, () => [`${fault.id}  ${text}`])
    out.note(`Remove it with "upshot sandbox fault clear ${fault.id}".`)
  },
)

const LIST_COLUMNS: Column<Fault>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'ON', value: ({ on }) => on },
  { title: 'STRUCK', value: ({ struck, times }) => (times === null ? struck : `${struck}/${times}`), align: 'right' },
  { title: 'COULD', value: ({ seen }) => seen, align: 'right' },
  { title: 'RULE', value: describeRule },
]

export const list = atSandbox(async ({ out, sandbox }) => {
  const faults = await sandbox.get<Fault[]>('/faults')
  showRows(out, faults, LIST_COLUMNS, 'No fault. Add one with "upshot sandbox fault add <words>".')
})

function describeRule({ id: _id, on: _on, seen: _seen, struck: _struck, times: _times, ...rule }: Fault): string {
  return JSON.stringify(rule)
}

export const clear = sandboxCommand(
  (command) => command.argument('[fault]', 'id of the fault, flt_…, from "upshot sandbox fault list" (default: all)'),
  async ({ out, sandbox }, _, id) => {
    const before = await sandbox.get<Fault[]>('/faults')
    const cleared = id === undefined ? before.map((fault) => fault.id) : [id]
    if (isRehearsal(out, `remove ${cleared.length} faults`)) return
    await sandbox.delete(id === undefined ? '/faults' : `/faults/${encodeURIComponent(id)}`)
    out.result({ cleared }, () => [`Removed ${cleared.length} ${cleared.length === 1 ? 'fault' : 'faults'}.`])
  },
)
