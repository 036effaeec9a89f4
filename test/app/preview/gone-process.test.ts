import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { IsolatedProcess } from '../../../src/app/preview/isolated-process.ts'
import { imagineRun } from '../../../src/app/preview/plan-event.ts'
import type { EventRecord } from '../../../src/core/incoming/event.ts'
import { DEFAULT_POLICY } from '../../../src/core/safety/guard.ts'
import { NOW } from '../../support/fixtures.ts'
import { DOOR } from '../../support/program.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openTestStore } from '../../support/test-store.ts'

/** Holds this process, so that it has not heard yet that the isolated process is gone. */
function holdStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

test('an answer to an isolated process that is gone meanwhile is dropped, and ends nothing else', async () => {
  const folder = tempFolder()
  const run = `async ({ files }) => { await files.get({ service: 'storage_a', id: 'fil_1' }) }`
  const code = `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'tidy', on: 'file.created', run: ${run} })`
  writeFileSync(join(folder, 'tidy.workflow.ts'), code)
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  const isolated = await IsolatedProcess.open({
    settings: { workflowsDir: folder, guard: DEFAULT_POLICY, spellings: {} },
    store: await openTestStore(),
    readFiles: async () => {
      asked.resolve()
      await answered.promise
      return null as never
    },
  })
  const event: EventRecord = {
    id: 'evt_1',
    account: 'default',
    type: 'file.created',
    origin: 'webhook',
    seq: 1,
    stream: 0,
    createdAt: NOW,
    receivedAt: NOW,
    body: '{"id":"evt_1","type":"file.created","data":{}}',
  }
  const rules = { readsLive: true, plans: { use: [], borrows: false } }
  const plan = isolated.previewOne({ claim: imagineRun(event, 'tidy', NOW), steps: [] }, rules)
  await asked.promise
  const closed = isolated[Symbol.asyncDispose]()
  holdStill(200)
  answered.resolve()
  await expect(plan).rejects.toThrow('has ended')
  await closed
  await pause(50)
})

test('a module that loops as it is loaded holds up no Ctrl-C', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'loop.workflow.ts'), `process.stdout.write('begun'); while (true);`)
  const interrupted = new AbortController()
  const reason = new DOMException('Interrupted.', 'AbortError')
  const opened = IsolatedProcess.open({
    settings: { workflowsDir: folder, guard: DEFAULT_POLICY, spellings: {} },
    store: await openTestStore(),
    onPrint: () => interrupted.abort(reason),
    signal: interrupted.signal,
  })
  await expect(opened).rejects.toBe(reason)
})
