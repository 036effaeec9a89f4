import { UpshotError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { toJson } from '../../core/json.ts'
import { accountOf } from '../../core/runs/claim.ts'
import { readCall } from '../admit/read-cause.ts'
import { neverSettles } from '../pass/parking.ts'
import type { Pass } from '../pass/pass.ts'
import { holdStep, noteCall } from '../steps/reach-step.ts'
import { listReceived, type Streams } from '../steps/receive-step.ts'
import { MAX_SENT_BYTES } from '../steps/send-step.ts'

const BEYOND_PLAN =
  'the plan that it was started with is for this one run, and step.continueAs would go on in another one'

/**
 * Ends the code here, and the run after its steps at work, in one commit with its successor. A run
 * with a plan waits for a person instead: its successor would act beyond that.
 */
export async function continueRun(pass: Pass, streams: Streams, input: unknown): Promise<never> {
  noteCall(pass, 'continueAs')
  pass.order.noteMove()
  if (pass.parking.isClosed) return neverSettles()
  const json = checkInput(pass, input)
  const held = holdStep(pass)
  if (held && !(await held)) return neverSettles()
  if (pass.run.origin === 'plan') return pass.parking.halt(BEYOND_PLAN)
  const received = listReceived(streams)
  requireSize('the list of the events that it has received', JSON.stringify(received))
  const run = newId('run', pass.clock.now())
  const successor = { run, account: accountOf(pass.run.cause), input: json, received }
  pass.parking.stop({ kind: 'continued', successor })
  return neverSettles()
}

/** The input as JSON. Throws where no run of this workflow could begin with it. */
function checkInput({ run, on, clock, spellings }: Pass, input: unknown): string {
  if (run.handler !== 'run') throw refuse('`onFailure` follows a run that has ended, and cannot continue it.')
  if (typeof on === 'object' && 'kind' in on && on.kind === 'cron') {
    throw refuse(`"${run.workflow}" runs on a schedule and takes no input. Its next tick starts the next run.`)
  }
  const json = toJson(input, 'The input of step.continueAs')
  requireSize('an input', json)
  const call = { account: accountOf(run.cause), runId: run.lease.runId, createdAt: clock.now(), input: json }
  readCall(call, { on }, { isSelfCaused: false, spellings })
  return json
}

function requireSize(what: string, json: string): void {
  if (Buffer.byteLength(json) <= MAX_SENT_BYTES) return
  throw new UpshotError(
    'output_too_large',
    `step.continueAs gives ${what} of more than ${MAX_SENT_BYTES} bytes. Pass ids, not content.`,
  )
}

function refuse(why: string): UpshotError {
  return new UpshotError('invalid_workflow', `step.continueAs: ${why}`)
}
