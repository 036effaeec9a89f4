import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { NOW, queueRun } from '../../support/fixtures.ts'
import { createTestEngine } from '../../support/test-engine.ts'
import { define, hang } from '../../support/workflows.ts'

test('a run whose code awaits something outside its steps for a minute says once where it stands', async () => {
  const engine = createTestEngine()
  const never = (id: string, first: boolean) =>
    define(id, async ({ step }) => {
      if (first) await step.run(['copy', 1], () => 1)
      await new Promise(() => {})
    })
  const long = hang('long')
  const worker = await engine.start([never('stuck', true), never('early', false), long.workflow], { drainMs: 0 })
  const stuck = await queueRun(engine.store, 'evt_1', 'stuck')
  await queueRun(engine.store, 'evt_2', 'early')
  await queueRun(engine.store, 'evt_3', 'long')
  worker.wake()
  await long.started
  const told = () => engine.heard.filter((notice) => notice.kind === 'run.log')
  while (told().length < 2) {
    engine.clock.advance('1s')
    await turn()
  }
  expect(engine.clock.now() - NOW).toBeGreaterThanOrEqual(60_000)
  for (let second = 0; second < 180; second++) {
    engine.clock.advance('1s')
    await turn()
  }
  expect(told()).toMatchObject([
    {
      run: stuck,
      workflow: 'stuck',
      level: 'warn',
      message: expect.stringMatching(
        /^nothing has moved for \d+ s: the code awaits something outside its steps, since step "copy\[1\]" ended$/,
      ),
      facts: { calledAt: expect.stringContaining('still-watch.test.ts:11:'), awaits: null },
    },
    { workflow: 'early', message: expect.stringMatching(/ outside its steps, before its first step$/) },
  ])
})
