import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Store } from '../../../../src/core/store/store.ts'
import { ManualClock } from '../../../../src/core/time.ts'
import { makeRuns, startRunner, workUntilOver } from '../../../admin/support/bulk.ts'
import { CHILD_ENVIRONMENT } from '../../../support/child-environment.ts'
import { runCli } from '../../support/run-cli.ts'
import { openTestProject } from '../../support/test-project.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const RUNS = 450
/** So slow that most of the runs are left when the command dies. */
const SLOWLY = ['--workflow', 'w', '--per-second', '3', '--reason', 'the service is back', '--yes']

/** The operation that the command began, once its first slice is done. */
async function firstSlice(store: Store): Promise<string> {
  for (;;) {
    const [operation] = await store.listBulks({ limit: 1 })
    if (operation && operation.done > 0) return operation.id
    await setImmediate()
  }
}

test('another process ends the operation of a killed runs retry, and no run is done twice', async () => {
  const { dataDir, store } = await openTestProject()
  makeRuns(dataDir, RUNS, 'failed', Date.now() - 1_000)
  const child = spawn(process.execPath, [join(ROOT, 'src/cli/main.js'), 'runs', 'retry', ...SLOWLY], {
    cwd: ROOT,
    env: { ...CHILD_ENVIRONMENT, UPSHOT_DATA_DIR: dataDir, UPSHOT_PORT: '0' },
    stdio: 'ignore',
  })
  const exited = once(child, 'exit')
  const id = await firstSlice(store)
  child.kill('SIGKILL')
  await exited
  const left = await store.findBulk(id)
  expect(left).toMatchObject({ kind: 'retry', status: 'running', endedAt: null })
  expect(left?.done).toBeLessThan(RUNS)
  const clock = new ManualClock(Date.now() + 11_000)
  const runner = startRunner(store, clock)
  await workUntilOver(store, clock, id)
  await runner.stop()
  expect(await store.findBulk(id)).toMatchObject({ status: 'done', done: RUNS, refused: 0 })
  expect(await store.listRuns({ status: 'pending', limit: 1_000 })).toHaveLength(RUNS)
  const rows = await store.listActions({ limit: 1_000, action: 'run.retry' })
  expect([rows.length, new Set(rows.map(({ target }) => target)).size]).toEqual([RUNS, RUNS])
  expect(rows[0]).toMatchObject({ reason: 'the service is back', parameters: { operation: id } })
  expect(await store.listActions({ limit: 9, action: 'operation.start' })).toMatchObject([{ target: id }])
})

test('Ctrl-C aborts the operation after its present slice, and the command says so with exit code 1', async () => {
  const { dataDir, store } = await openTestProject()
  makeRuns(dataDir, RUNS, 'failed', Date.now() - 1_000)
  const args = ['runs', 'retry', ...SLOWLY, '--json']
  const { exit, json } = await runCli(dataDir, args, { interruptAt: firstSlice(store) })
  expect({ exit, data: json.data }).toMatchObject({
    exit: 1,
    data: { kind: 'retry', dryRun: false, status: 'aborted', refused: 0 },
  })
  const { done } = json.data
  expect(done).toBeLessThan(RUNS)
  expect(await store.findBulk(json.data.operation)).toMatchObject({ status: 'aborted', done })
  expect(await store.listRuns({ status: 'pending', limit: 1_000 })).toHaveLength(done)
})
