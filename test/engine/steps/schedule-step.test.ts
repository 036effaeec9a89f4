import { expect, test } from 'vitest'
import { z } from 'zod'
import { callable, defineWorkflow } from '../../../src/author/index.ts'
import type { ScheduleRequest } from '../../../src/author/steps/step-options.ts'
import type { CallableTrigger } from '../../../src/author/trigger.ts'
import type { AnyWorkflow } from '../../../src/author/workflow.ts'
import { MAX_DEPTH } from '../../../src/core/runs/wait.ts'
import { planOnce } from '../../../src/core/service/plan-schedule.ts'
import { NOW } from '../../support/fixtures.ts'
import { createTestEngine } from '../../support/test-engine.ts'

const HOUR = 3_600_000
type When = Pick<ScheduleRequest<CallableTrigger>, 'cron' | 'at'>

/** Ticks of a schedule whose run schedules itself again; its first run has this depth. */
async function openChain(name: string, when: When, depth: number) {
  const again: AnyWorkflow = defineWorkflow({
    id: 'again',
    on: callable(z.object({ n: z.number() })),
    retry: { attempts: 1 },
    run: ({ input, step }) =>
      step.schedule(name, { ...when, workflow: again, input: { n: input.n + 1 } } as ScheduleRequest<CallableTrigger>),
  })
  const engine = createTestEngine()
  const about = { id: 'sch_1', owner: 'code', madeBy: 'run_0', workflow: 'again', input: '{"n":1}' } as const
  await engine.store.addSchedule({ ...about, name: 'first', plan: planOnce(NOW), depth }, NOW)
  await engine.start([again])
  let tick = NOW
  return async (schedule: string) => {
    const { id } = (await engine.store.findSchedule(schedule)) ?? { id: '' }
    const run = await engine.store.recordTick(id, { scheduledFor: tick++, missed: 0 }, NOW, { isManual: true })
    const { status, error } = await engine.passOf(run ?? '')
    return error?.code ?? status
  }
}

test.each<[string, string, When, number]>([
  ['a run at once', 'next', { at: NOW }, MAX_DEPTH - 100],
  ['a run in an hour', 'next', { at: NOW + HOUR }, MAX_DEPTH - 1],
  ['a new line', 'next', { cron: '0 3 * * *' }, MAX_DEPTH - 100],
])('a chain whose runs schedule %s ends', async (_, name, when, depth) => {
  const last = await openChain(name, when, depth)
  expect(await last('first')).toBe('completed')
  expect(await (await openChain(name, when, depth + 1))('first')).toBe('invoke_too_deep')
})

test('each run of a chain is one link longer than the one that scheduled it', async () => {
  const tick = await openChain('next', { at: NOW + HOUR }, MAX_DEPTH - 2)
  expect([await tick('first'), await tick('next'), await tick('next')]).toEqual([
    'completed',
    'completed',
    'invoke_too_deep',
  ])
})

test('a run may change its own line for ever', async () => {
  const tick = await openChain('first', { cron: '0 3 * * *' }, MAX_DEPTH)
  expect([await tick('first'), await tick('first')]).toEqual(['completed', 'completed'])
})
