import type { EventDefinition } from '../../author/define-event.ts'
import { withStorageNames } from '../../author/storage-name.ts'
import { UpshotError } from '../../core/errors.ts'
import { deriveId } from '../../core/ids.ts'
import { OWN_TYPES } from '../../core/incoming/event.ts'
import { parseEvent } from '../../core/incoming/parse-event.ts'
import { planRuns } from '../../core/incoming/route.ts'
import { toJson } from '../../core/json.ts'
import { accountOf } from '../../core/runs/claim.ts'
import type { Checkpoint, StepName } from '../../core/runs/step.ts'
import type { SentEvent } from '../../core/runs/wait.ts'
import { isoTime } from '../../core/time.ts'
import { fitEvent } from '../admit/fit-event.ts'
import { neverSettles } from '../pass/parking.ts'
import { aboutRun, type Pass } from '../pass/pass.ts'
import { holdStep, newStep, readDuringPass, takeStep } from './reach-step.ts'
import { stageStep } from './stage-step.ts'

/** The same as the default limit of a delivery's body. */
export const MAX_SENT_BYTES = 1_048_576

/** Sends an event; the commit of the step contains it and its runs. */
export function sendStep(
  pass: Pass,
  name: StepName,
  on: EventDefinition | string,
  data: unknown,
): Promise<{ id: string }> {
  return takeStep(pass, { name, kind: 'send', effect: 'write' }, async ({ key }) => {
    const send = planEvent(pass, key, { on, data })
    const held = holdStep(pass)
    if (held && !(await held)) return neverSettles()
    const routes = await readDuringPass(pass, async () => pass.routes())
    const step = { ...newStep(pass, { key, kind: 'send', effect: 'write' }), target: send.type }
    const sent = { ...send, workflows: planRuns(send.type, routes) }
    if (pass.stage) return stageStep(pass, pass.stage, step, { send: sent }) as Promise<{ id: string }>
    step.settled = await pass.order.turn(step)
    saveEvent(pass, step, sent)
    return { id: send.id }
  })
}

function saveEvent(pass: Pass, step: Checkpoint, send: SentEvent): void {
  const output = JSON.stringify({ id: send.id })
  publishSent(pass, step.key, send)
  pass.journal.record({ ...step, status: 'completed', output, finishedAt: pass.clock.now() }, undefined, { send }).then(
    () => pass.publish({ kind: 'run.queued', count: send.workflows.length }),
    () => {},
  )
}

function planEvent(
  pass: Pass,
  key: string,
  { on, data }: { on: EventDefinition | string; data: unknown },
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
  const createdAt = pass.clock.now()
  const id = deriveId('evt', runId, key)
  const body = toJson({ id, type, created: isoTime(createdAt), data }, `Step "${key}": its event`)
  if (Buffer.byteLength(body) > MAX_SENT_BYTES) {
    throw new UpshotError(
      'output_too_large',
      `Step "${key}" sends an event of more than ${MAX_SENT_BYTES} bytes. Send ids, not content.`,
    )
  }
  withStorageNames(pass.spellings, () =>
    fitEvent(parseEvent(JSON.parse(body)), typeof on === 'string' ? undefined : on),
  )
  return { id, type, account: accountOf(pass.run.cause), createdAt, body }
}

function publishSent(pass: Pass, step: string, { id, type }: SentEvent): void {
  const about = { ...aboutRun(pass), step, effect: 'write', target: type, attempt: 1, ms: 0 } as const
  pass.publish({ kind: 'step.completed', ...about, sent: id })
}
