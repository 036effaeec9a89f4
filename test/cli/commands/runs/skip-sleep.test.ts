import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../../src/author/define-workflow.ts'
import { startTestApp } from '../../../support/test-app.ts'
import { runHere } from '../../support/run-here.ts'

const nap = defineWorkflow({
  id: 'nap',
  on: 'transfer.completed',
  async run({ step }) {
    await step.sleep('grace', '15m')
    return 'rested'
  },
})

test('a person ends the sleep of a run that they name, with an audit row, and of no other', async () => {
  const { app, dataDir, hear } = await startTestApp({ workflows: [nap] })
  const { run } = await hear('run.parked')
  const resume = (...args: string[]) => runHere(dataDir, ['runs', 'resume', ...args, '--skip-sleep', '--json'])
  const { json } = await runHere(dataDir, ['runs', 'resume', run, '--json'])
  expect(json.error).toMatchObject({ code: 'conflict', fix: expect.stringContaining(`resume ${run} --skip-sleep`) })
  expect((await resume(run, '--dry-run')).json.data).toMatchObject({ dryRun: true, matched: 1 })
  expect((await resume(run)).json.data).toMatchObject({ done: 1, refused: 0 })
  expect(await hear('run.completed')).toMatchObject({ run })
  expect(await app.store.findRun(run)).toMatchObject({ output: '"rested"' })
  expect(await app.store.listActions({ limit: 5 })).toMatchObject([{ action: 'run.skip_sleep', target: run }])
  expect(await resume(run)).toMatchObject({ exit: 1, json: { error: { message: `Run ${run} does not sleep.` } } })
  expect((await resume('--status', 'waiting')).exit).toBe(2)
})
