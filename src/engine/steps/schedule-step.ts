import type { ScheduleRequest } from '../../author/steps/step-options.ts'
import type { Invocable } from '../../author/trigger.ts'
import { UpshotError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { toJson } from '../../core/json.ts'
import { accountOf } from '../../core/runs/claim.ts'
import { type NewSchedule, requireScheduleName } from '../../core/runs/schedule.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import { LINK, type SavedWithStep } from '../../core/runs/wait.ts'
import { planCron, planOnce } from '../../core/service/plan-schedule.ts'
import { parseMoment } from '../../core/time.ts'
import { readCall } from '../admit/read-cause.ts'
import { neverSettles } from '../pass/parking.ts'
import { aboutRun, type Pass } from '../pass/pass.ts'
import { holdStep, newStep, readDuringPass, takeStep, tellCompleted } from './reach-step.ts'
import { deepen, MAX_SENT_BYTES } from './send-step.ts'
import { refuseStep } from './step-request.ts'
import { stubStep } from './stub-step.ts'

/** Makes or changes a schedule of code; the commit of the step contains it. */
export function scheduleStep(pass: Pass, name: string, request: ScheduleRequest): Promise<void> {
  return change(pass, ['schedule', name], async (key) => {
    requireScheduleName(name)
    const found = await readDuringPass(pass, () => pass.store.findSchedule(name))
    const schedule = planSchedule(pass, { name, key, isThere: found !== null }, request)
    if (found === null || found.owner === 'code') return { schedule }
    throw new UpshotError('conflict', `Step "${key}": the schedule "${name}" is of ${found.madeBy}, not of code.`, {
      details: { fix: 'Choose another name.' },
    })
  })
}

/** Removes a schedule of code; one that is not there is no error. */
export function unscheduleStep(pass: Pass, name: string): Promise<void> {
  return change(pass, ['unschedule', name], async () => ({ unschedule: name }))
}

type Changed = Pick<SavedWithStep, 'schedule' | 'unschedule'>

function change(
  pass: Pass,
  step: [verb: string, schedule: string],
  plan: (key: string) => Promise<Changed>,
): Promise<void> {
  return takeStep(pass, { name: step, kind: 'schedule', effect: 'write' }, async ({ key }) => {
    const [, schedule] = step
    const changed = await plan(key)
    const held = holdStep(pass)
    if (held && !(await held)) return neverSettles()
    const row = { ...newStep(pass, { key, kind: 'schedule', effect: 'write' }), target: schedule }
    if (pass.stub) return stubStep(pass, pass.stub, row, changed) as Promise<never>
    await save(pass, row, changed)
  })
}

async function save(pass: Pass, step: Checkpoint, changed: Changed): Promise<void> {
  step.settled = await pass.order.turn(step)
  tellCompleted(pass, step)
  const finished = { ...step, status: 'completed', output: 'null', finishedAt: pass.clock.now() } as const
  pass.journal.record(finished, undefined, changed).then(
    () => pass.publish({ kind: 'schedule.changed', schedule: step.target ?? '', ...aboutRun(pass) }),
    () => {},
  )
}

function planSchedule(
  pass: Pass,
  { name, key, isThere }: { name: string; key: string; isThere: boolean },
  { workflow, input, cron, at, ...rules }: ScheduleRequest,
): NewSchedule & { madeAt: number } {
  const { run, clock, spellings } = pass
  if ((cron === undefined) === (at === undefined)) throw refuseStep(key, 'give either `cron` or `at`.')
  const account = accountOf(run.cause)
  const acts = rules.accounts === undefined ? { account: rules.account ?? account } : {}
  const given = { ...rules, ...acts }
  const plan = at === undefined ? planCron(cron ?? '', given) : planOnce(parseMoment(at, `Step "${key}": at`), given)
  pass.checkPlan?.(plan)
  requireCallable(key, workflow)
  const json = toJson(input, `Step "${key}": the input of "${workflow.id}"`)
  if (Buffer.byteLength(json) > MAX_SENT_BYTES) {
    throw new UpshotError('output_too_large', `Step "${key}" gives an input of more than ${MAX_SENT_BYTES} bytes.`)
  }
  const call = { runId: run.lease.runId, account, createdAt: clock.now(), input: json }
  readCall(call, workflow, { isSelfCaused: false, spellings })
  // A schedule that was there before begins no further run, so the chain gets no longer.
  const begins = plan.kind === 'once' ? { at: plan.at, link: LINK } : { at: clock.now(), link: isThere ? 0 : LINK }
  const depth = deepen(pass, key, begins)
  const made = { id: newId('sch', clock.now()), name, owner: 'code', madeBy: run.lease.runId } as const
  return { ...made, workflow: workflow.id, plan, input: json, depth, madeAt: clock.now() }
}

function requireCallable(key: string, { id, on }: Invocable): void {
  if (typeof on === 'object' && 'kind' in on && on.kind === 'callable') return
  throw refuseStep(key, `"${id}" is not callable. Give it "on: callable(…)".`)
}
