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
const codeOf = (order: readonly number[]) => `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'tidy', on: 'batch.done', guard: { deletes: { perRun: 2 } },
run: async ({ files, step }) => {
  const { items } = await files.snapshot({ service: 'storage_a', path: '/in' })
  for (const at of ${JSON.stringify(order)}) await files.delete(items[at])
  await step.run('note', () => 1, { target: 'notes' })
  await step.run('never known', () => 2)
} })`

/** A run that is held at its third delete. `order`: of its deletes, unlike the code on disk. */
async function openTidy(order = [0, 1, 2, 3, 4]) {
  const folder = tempFolder()
  const module = join(folder, 'tidy.workflow.ts')
  writeFileSync(module, codeOf(order))
  const { dataDir, sandbox } = await startTestApp({ workflows: [(await import(pathToFileURL(module).href)).default] })
  writeFileSync(module, codeOf([0, 1, 2, 3, 4]))
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
  const id = approval?.id ?? ''
  const cli = (...args: string[]) => runHere(dataDir, args, { env: { UPSHOT_WORKFLOWS_DIR: folder } })
  const paths = () => storage.list().map(({ path }) => path)
  return { store, storage, paths, cli, id, hash: approval?.hash ?? '', run: runs[0] ?? '' }
}

test('"approvals show --ahead" tells what a held run would still ask for, and does nothing', async () => {
  const { store, storage, cli, id, run } = await openTidy()
  const before = { steps: await store.listSteps(run), effects: await store.listEffects({ limit: 99 }) }
  const show = (...args: string[]) => cli('approvals', 'show', id, '--ahead', ...args)
  const { json } = await show('--json')
  expect(json.error).toBeUndefined()
  expect(json.data.list).toMatchObject([{ path: '/in/c.txt' }])
  expect(json.data.foreseen.ahead).toMatchObject([
    {
      run,
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
  expect({ steps: await store.listSteps(run), effects: await store.listEffects({ limit: 99 }) }).toEqual(before)
  expect(storage.list().filter(({ path }) => path.startsWith('/in/'))).toHaveLength(3)
})

test('"approvals approve --ahead" approves each list that was foreseen as it comes, and no other', async () => {
  const { store, paths, cli, id, hash, run } = await openTidy()
  const words = ['--ahead', '2', '--ahead-size', '8 B', '--hash', hash, '--reason', 'the copies are proven']
  const { json: unbounded } = await cli('approvals', 'approve', id, '--ahead-size', '8 B', '--hash', hash, '--json')
  expect(unbounded.error).toMatchObject({ message: '--ahead-size bounds --ahead.' })
  const { json: unconfirmed } = await cli('approvals', 'approve', id, ...words, '--json')
  expect(unconfirmed.error).toMatchObject({ code: 'needs_confirmation' })
  expect((await store.findApproval(id, Date.now()))?.status).toBe('open')
  const first = await cli('approvals', 'approve', id, ...words, '--yes', '--json')
  expect(first.json.error).toBeUndefined()
  // Both would be 10 bytes.
  expect(first.json.data).toMatchObject({ approval: id, granted: 1, ahead: { approved: 1, stopped: null } })
  await expect.poll(() => store.findRun(run)).toMatchObject({ reason: expect.stringContaining('waits for approval') })
  expect(paths()).not.toContain('/in/d.txt')
  expect(paths()).toContain('/in/e.txt')
  const rows = await store.listActions({ action: 'approval.approve', limit: 9 })
  expect(rows.map(({ target, reason }) => [target, reason])).toEqual(
    [...first.json.data.ahead.approvals, id].map((each) => [each, 'the copies are proven']),
  )
})

test('a list with something that was not foreseen stays open, and is named', async () => {
  const { store, paths, cli, id, hash, run } = await openTidy([0, 1, 2, 4, 3])
  const { json } = await cli('approvals', 'approve', id, '--ahead', '1', '--hash', hash, '--yes', '--json')
  const [next] = await store.listApprovals({ status: 'open', limit: 1, now: Date.now() })
  const stopped = `Approval ${next?.id} asks for /in/e.txt, which the look ahead did not show so. `
  expect(json.data.ahead).toMatchObject({ approved: 0, approvals: [], stopped: expect.stringContaining(stopped) })
  expect(await store.findRun(run)).toMatchObject({ reason: expect.stringContaining(`approval ${next?.id}`) })
  expect(paths().filter((path) => path.startsWith('/in/'))).toEqual(['/in/d.txt', '/in/e.txt'])
})
