import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../../../src/project/data-dir/open-store.ts'
import { eventBody, incoming } from '../../../support/fixtures.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { startTestApp } from '../../../support/test-app.ts'
import { runHere } from '../../support/run-here.ts'

const DOOR = join(import.meta.dirname, '../../../../src/author/index.ts')
const CODE = `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'tidy', on: 'batch.done', guard: { deletes: { perRun: 2 } },
run: async ({ files, step }) => {
  const { items } = await files.snapshot({ service: 'storage_a', path: '/in' })
  for (const file of items) await files.delete(file)
  await step.run('note', () => 1, { target: 'notes' })
  await step.run('never known', () => 2)
} })`

test('"approvals show --ahead" tells what a held run would still ask for, and does nothing', async () => {
  const folder = tempFolder()
  const module = join(folder, 'tidy.workflow.ts')
  writeFileSync(module, CODE)
  const { dataDir, sandbox } = await startTestApp({ workflows: [(await import(pathToFileURL(module).href)).default] })
  const storage = sandbox.storage('storage_a')
  for (const name of ['a', 'b', 'c', 'd', 'e']) await storage.put(`/in/${name}.txt`, 'bytes')
  const store = await openStore({ dataDir, secretKey: null })
  onTestFinished(() => store.close())
  const body = eventBody('evt_1', 'batch.done', {})
  const { runs } = await store.saveDelivery(incoming('evt_1', { body, workflows: ['tidy'] }))
  await expect
    .poll(() => store.findRun(runs[0] ?? ''), { timeout: 60_000 })
    .toMatchObject({ status: 'waiting', reason: expect.stringContaining('waits for approval') })
  const [approval] = await store.listApprovals({ limit: 1, now: Date.now() })
  const before = { steps: await store.listSteps(runs[0] ?? ''), effects: await store.listEffects({ limit: 99 }) }
  const show = (...args: string[]) =>
    runHere(dataDir, ['approvals', 'show', approval?.id ?? '', '--ahead', ...args], {
      env: { UPSHOT_WORKFLOWS_DIR: folder },
    })
  const { json } = await show('--json')
  expect(json.error).toBeUndefined()
  expect(json.data.list).toMatchObject([{ path: '/in/c.txt' }])
  expect(json.data.foreseen.ahead).toMatchObject([
    {
      run: runs[0],
      effects: 3,
      list: [
        { class: 'delete', path: '/in/d.txt', bytes: 5 },
        { class: 'delete', path: '/in/e.txt' },
        { class: 'write', target: 'notes' },
      ],
      end: { kind: 'open', step: 'note' },
    },
  ])
  const { stdout } = await show()
  expect(stdout).toContain('would ask for 3 more (10 B)')
  expect(stdout).toContain('Then it would be open at step "note": ')
  expect({ steps: await store.listSteps(runs[0] ?? ''), effects: await store.listEffects({ limit: 99 }) }).toEqual(
    before,
  )
  expect(storage.list().filter(({ path }) => path.startsWith('/in/'))).toHaveLength(3)
})
