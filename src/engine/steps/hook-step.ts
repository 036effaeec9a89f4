import type { z } from 'zod'
import type { Hook, HookAnswer, HookOptions } from '../../author/steps/step-options.ts'
import { UpshotError } from '../../core/errors.ts'
import { deriveHookId, type Hook as OpenedHook, previewUrl } from '../../core/incoming/hook.ts'
import { parseSecret, SCHEME_PRESETS, type SchemePreset } from '../../core/incoming/signature.ts'
import { signatureScheme } from '../../core/incoming/signature-scheme.ts'
import { isPlainObject } from '../../core/json.ts'
import { accountOf } from '../../core/runs/claim.ts'
import type { Checkpoint, StepName } from '../../core/runs/step.ts'
import { parseDuration } from '../../core/time.ts'
import { neverSettles } from '../pass/parking.ts'
import type { Pass } from '../pass/pass.ts'
import { holdStep, newStep, readDuringPass, takeStep } from './reach-step.ts'
import { describeSchema, refuseStep, requireAsk } from './step-request.ts'
import { stubStep } from './stub-step.ts'

/** The result of the step, as its row keeps it. It grants nothing. */
interface KeptHook {
  id: string
  expiresAt: number
}

export class RunHook implements Hook {
  readonly kind = 'hook'
  readonly id: string
  readonly url: string
  readonly expiresAt: number
  readonly many: boolean
  readonly #step: string
  readonly #schema: z.ZodType | undefined

  constructor(step: string, { id, expiresAt }: KeptHook, given: { url: string; many: boolean; data?: z.ZodType }) {
    this.id = id
    this.url = given.url
    this.expiresAt = expiresAt
    this.many = given.many
    this.#step = step
    this.#schema = given.data
  }

  /** As a step that waits for it is described. */
  get target(): string {
    return `hook "${this.#step}"`
  }

  /** The event of an answer, as the code gets it. Throws where the data does not fit. */
  read({ data }: { data: Record<string, unknown> }): HookAnswer {
    const { receivedAt, delivery, by, data: answer } = data as { receivedAt: string } & Omit<HookAnswer, 'receivedAt'>
    const parsed = this.#schema === undefined ? answer : this.#schema.parse(answer)
    return { data: parsed, receivedAt: Date.parse(receivedAt), delivery, by }
  }
}

/** Opens a hook in the commit of its step: once the code has its URL, an answer finds it. */
export function hookStep(pass: Pass, name: StepName, request: HookOptions): Promise<Hook> {
  return takeStep(
    pass,
    { name, kind: 'hook', effect: 'read' },
    ({ key }) => begin(pass, key, request),
    (kept, key) => revive(pass, key, kept as KeptHook, request),
  )
}

/** Where the address was taken away since, a person may give it back: the run waits for that. */
async function revive(pass: Pass, key: string, kept: KeptHook, request: HookOptions): Promise<Hook> {
  if (pass.stub || pass.callbackUrl?.(kept.id) !== undefined) return describe(pass, key, kept, request)
  return pass.parking.halt(`step "${key}" has a callback URL, and UPSHOT_PUBLIC_URL is not set any more`)
}

async function begin(pass: Pass, key: string, request: HookOptions): Promise<Hook> {
  const hook = planHook(pass, key, request)
  const held = holdStep(pass)
  if (held && !(await held)) return neverSettles()
  const { id, expiresAt } = hook
  const step: Checkpoint = { ...newStep(pass, { key, kind: 'hook', effect: 'read' }), target: id, dueAt: expiresAt }
  if (pass.stub) return describe(pass, key, (await stubStep(pass, pass.stub, step)) as KeptHook, request)
  const opened = describe(pass, key, hook, request)
  const output = JSON.stringify({ id, expiresAt } satisfies KeptHook)
  // The outcome follows from the call, so that it has no place in the order of outcomes.
  const ended = { ...step, status: 'completed', output, finishedAt: step.startedAt, settled: 0 } as const
  // The barrier of the journal reports a failed write.
  const isSaved = pass.journal.record(ended, undefined, { hook }).then(
    () => true,
    () => false,
  )
  return (await readDuringPass(pass, () => isSaved)) ? opened : neverSettles()
}

/** The hook of a row. Throws where no sender could reach its URL. */
function describe(pass: Pass, key: string, kept: KeptHook, { data, many = false }: HookOptions): Hook {
  const url = pass.callbackUrl?.(kept.id)
  if (url === undefined && !pass.stub) {
    throw new UpshotError(
      'invalid_config',
      `Step "${key}" opens a callback URL, and this app has no address that others reach. ` +
        'Set UPSHOT_PUBLIC_URL, or publicUrl in config/upshot.config.ts, to the https address of the receiver.',
    )
  }
  return new RunHook(key, kept, { url: url ?? previewUrl(kept.id), many, ...(data && { data }) })
}

/** The stored form of a hook. Throws `invalid_workflow` where a part is not valid. */
function planHook(pass: Pass, key: string, request: HookOptions): Omit<OpenedHook, 'runId' | 'step'> {
  const { ask = null, data, many = false, expires } = request
  if (ask !== null) requireAsk(key, ask)
  const { runId, fence } = pass.run.lease
  const openedAt = pass.clock.now()
  const lastsMs = parseDuration(expires, `Step "${key}": expires`)
  return {
    id: deriveHookId(runId, key, fence),
    account: accountOf(pass.run.cause),
    ask,
    data: describeSchema(key, 'data', data),
    isMany: many,
    sign: readSign(key, request),
    openedAt,
    // The run would end before a later answer.
    expiresAt: Math.min(openedAt + lastsMs, pass.deadline ?? Infinity),
  }
}

function readSign(key: string, { sign }: HookOptions): OpenedHook['sign'] {
  if (sign === undefined) return null
  const { scheme: given, secret } = sign
  const known = isPlainObject(given) ? given : SCHEME_PRESETS[given as SchemePreset]
  const scheme = signatureScheme.safeParse(known)
  if (!scheme.success) {
    const presets = Object.keys(SCHEME_PRESETS).join(', ')
    throw refuseStep(key, `\`sign.scheme\` must be one of ${presets}, or the parts of a scheme.`)
  }
  if (typeof secret !== 'string' || parseSecret(scheme.data, secret) === null)
    throw refuseStep(key, `\`sign.secret\` is empty or not written as ${scheme.data.secret}.`)
  return { scheme: scheme.data, secret }
}
