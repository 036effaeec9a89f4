import type { EventDefinition } from '../../author/define-event.ts'
import type { SendOptions } from '../../author/steps/step-options.ts'
import { withStorageNames } from '../../author/storage-name.ts'
import { UpshotError } from '../../core/errors.ts'
import { deriveEventId, newId } from '../../core/ids.ts'
import { OWN_TYPES } from '../../core/incoming/event.ts'
import { parseEvent } from '../../core/incoming/parse-event.ts'
import { planRuns } from '../../core/incoming/route.ts'
import { toJson } from '../../core/json.ts'
import { accountOf } from '../../core/runs/claim.ts'
import type { Checkpoint, StepName } from '../../core/runs/step.ts'
import { MAX_CHAIN, MAX_DEPTH, MAX_SENT, SENT_LINK, type SentEvent } from '../../core/runs/wait.ts'
import { planOnce } from '../../core/service/plan-schedule.ts'
import { isoTime, parseMoment } from '../../core/time.ts'
import { fitSentEvent } from '../admit/read-cause.ts'
import { neverSettles } from '../pass/parking.ts'
import { aboutRun, type Pass } from '../pass/pass.ts'
import { holdStep, newStep, readDuringPass, takeStep, tellCompleted } from './reach-step.ts'
import { stubStep } from './stub-step.ts'

/** The same as the default limit of a delivery's body. */
export const MAX_SENT_BYTES = 1_048_576

/** A run that begins sooner than this after the one before it follows without a pause. */
const SOON_MS = 60_000

interface SendRequest extends SendOptions {
  on: EventDefinition | string
  data: unknown
}

/** Sends an event; the commit of the step contains it and its runs. */
export function sendStep(pass: Pass, name: StepName, { on, data, at }: SendRequest): Promise<{ id: string }> {
  return takeStep(pass, { name, kind: 'send', effect: 'write' }, async ({ key }) => {
    const moment = at === undefined ? null : parseMoment(at, `Step "${key}": at`)
    const send = planEvent(pass, key, { on, data, moment })
    const held = holdStep(pass)
    if (held && !(await held)) return neverSettles()
    const routes = await readDuringPass(pass, async () => pass.routes())
    const step = { ...newStep(pass, { key, kind: 'send', effect: 'write' }), target: send.type }
    const sent = { ...send, workflows: planRuns(send.type, routes) }
    if (pass.stub) return stubStep(pass, pass.stub, step, { send: sent }) as Promise<{ id: string }>
    step.settled = await pass.order.turn(step)
    if (moment !== null && moment > pass.clock.now()) saveLater(pass, step, send, moment)
    else saveEvent(pass, step, sent)
    return { id: send.id }
  })
}

/** Keeps the event in a schedule of one moment, named like the event. */
function saveLater(pass: Pass, step: Checkpoint, send: Omit<SentEvent, 'workflows'>, at: number): void {
  const now = pass.clock.now()
  const made = { id: newId('sch', now), name: send.id, owner: 'code', madeBy: pass.run.lease.runId } as const
  const plan = planOnce(at, { account: send.account })
  const schedule = { ...made, workflow: null, plan, input: JSON.stringify(send), madeAt: now }
  const output = JSON.stringify({ id: send.id })
  tellCompleted(pass, step)
  pass.journal.record({ ...step, status: 'completed', output, finishedAt: now }, undefined, { schedule }).then(
    () => pass.publish({ kind: 'schedule.changed', schedule: send.id, ...aboutRun(pass) }),
    () => {},
  )
}

/**
 * The depth of a run that this one begins at the moment `at`; `link`: what it adds without a pause.
 * Throws for a chain that would go on without end.
 */
export function deepen({ run }: Pass, key: string, { at, link }: { at: number; link: number }): number {
  const depth = run.depth + (at - run.createdAt >= SOON_MS ? Math.min(link, 1) : link)
  if (depth <= MAX_DEPTH) return depth
  const ends = `${MAX_CHAIN} invocations or schedules, or ${MAX_SENT} events`
  throw new UpshotError('invoke_too_deep', `Step "${key}": it would continue an endless chain of runs.`, {
    details: { fix: `It ends after ${ends}; after ${MAX_DEPTH} where each takes a minute or longer. Use a cron line.` },
  })
}

function saveEvent(pass: Pass, step: Checkpoint, send: SentEvent): void {
  const output = JSON.stringify({ id: send.id })
  tellCompleted(pass, step, send.id)
  pass.journal.record({ ...step, status: 'completed', output, finishedAt: pass.clock.now() }, undefined, { send }).then(
    () => pass.publish({ kind: 'run.queued', count: send.workflows.length }),
    () => {},
  )
}

function planEvent(
  pass: Pass,
  key: string,
  { on, data, moment }: Pick<SendRequest, 'on' | 'data'> & { moment: number | null },
): Omit<SentEvent, 'workflows'> {
  const { runId } = pass.run.lease
  const type = typeof on === 'string' ? on : on.type
  if (type.startsWith(OWN_TYPES)) {
    throw new UpshotError(
      'invalid_workflow',
      `Step "${key}" sends an event of type "${type}". Types under "${OWN_TYPES}" are reserved for Upshot; ` +
        'choose another.',
    )
  }
  const createdAt = Math.max(pass.clock.now(), moment ?? 0)
  const depth = deepen(pass, key, { at: createdAt, link: SENT_LINK })
  const id = deriveEventId(runId, key)
  const body = toJson({ id, type, created: isoTime(createdAt), data }, `Step "${key}": its event`)
  if (Buffer.byteLength(body) > MAX_SENT_BYTES) {
    throw new UpshotError(
      'output_too_large',
      `Step "${key}" sends an event of more than ${MAX_SENT_BYTES} bytes. Send ids, not content.`,
    )
  }
  withStorageNames(pass.spellings, () =>
    fitSentEvent(parseEvent(JSON.parse(body)), typeof on === 'string' ? undefined : on, key),
  )
  return { id, type, account: accountOf(pass.run.cause), createdAt, body, depth }
}
