import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../../../../src/project/data-dir/open-store.ts'
import { eventBody, incoming } from '../../../../support/fixtures.ts'
import { DOOR } from '../../../../support/program.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { startTestApp } from '../../../../support/test-app.ts'
import { runHere } from '../../../support/run-here.ts'

const moduleOf = (id: string, on: string, run: string) =>
  `import { defineWorkflow } from '${DOOR}'\nexport default defineWorkflow({ id: '${id}', on: '${on}', run: ${run} })`

/** An app with two files, an event, and a workflow that deletes the folder of the event. */
async function openFolder(run: string) {
  const workflowsDir = tempFolder()
  const module = join(workflowsDir, 'tidy.workflow.ts')
  writeFileSync(module, moduleOf('tidy', 'batch.done', run))
  const { dataDir, sandbox } = await startTestApp({ workflows: [(await import(pathToFileURL(module).href)).default] })
  const storage = sandbox.storage('storage_a')
  for (const path of ['/in/a.txt', '/in/b.txt']) await storage.put(path, 'bytes')
  const store = await openStore({ dataDir, secretKey: null })
  onTestFinished(() => store.close())
  const body = eventBody('evt_1', 'batch.done', { folder: '/in' })
  await store.saveDelivery(incoming('evt_1', { body, workflows: [] }))
  const file = join(tempFolder(), 'plan.json')
  const upshot = (...args: string[]) => runHere(dataDir, args, { env: { UPSHOT_WORKFLOWS_DIR: workflowsDir } })
  const plan = () => upshot('plan', 'evt_1', '--workflow', 'tidy', '--workflows', workflowsDir, '--save', file)
  const replay = (...args: string[]) => upshot('events', 'replay', 'evt_1', '--plan', file, ...args)
  return { file, plan, replay, storage, store, upshot, workflowsDir }
}

const TIDY = `async ({ event, files }) => {
  const { items } = await files.snapshot({ service: 'storage_a', path: event.data.folder })
  for (const file of items) await files.delete(file)
}`

test('a saved plan starts a run that deletes its files, and asks for one that came later', async () => {
  const { file, plan, replay, storage, store } = await openFolder(TIDY)
  const planned = await plan()
  expect(planned).toMatchObject({ exit: 0, stderr: expect.stringContaining('upshot events replay evt_1') })
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    event: 'evt_1',
    workflow: 'tidy',
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    effects: [
      { class: 'delete', asked: { path: '/in/a.txt', bytes: 5 } },
      { class: 'delete', asked: { path: '/in/b.txt' } },
    ],
  })
  await storage.put('/in/c.txt', 'later')
  const tried = await replay('--dry-run')
  expect(tried.exit).toBe(0)
  expect(tried.stderr).toContain('DELETE  /in/a.txt  5 B')
  const { exit, json } = await replay('--json', '--reason', 'as planned')
  expect(exit).toBe(0)
  expect(json.data).toMatchObject({ granted: 2, missing: 0, approval: expect.stringMatching(/^apr_/) })
  const run = await expect.poll(() => store.findRun(json.data.run), { timeout: 60_000 })
  await run.toMatchObject({ status: 'waiting', reason: expect.stringContaining('outside of the plan') })
  expect(storage.list().flatMap(({ path }) => (path.startsWith('/in/') ? [path] : []))).toEqual(['/in/c.txt'])
  const begun = await store.listEffects({ limit: 9, phases: ['begun'] })
  expect(begun.map(({ approval }) => approval)).toEqual([json.data.approval, json.data.approval])
  const actions = await store.listActions({ limit: 9 })
  expect(actions).toMatchObject([{ action: 'event.replay_plan', target: 'evt_1', reason: 'as planned' }])
})

test('a plan that was edited, one of another event, and one of no event start nothing', async () => {
  const { file, plan, replay, store, upshot } = await openFolder(TIDY)
  await plan()
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('/in/a.txt', '/in/z.txt'))
  expect(await replay()).toMatchObject({ exit: 2, stderr: expect.stringContaining('was changed since it was saved') })
  writeFileSync(file, '{}')
  expect(await replay()).toMatchObject({ exit: 2, stderr: expect.stringContaining('it is no plan') })
  writeFileSync(file, text)
  expect((await upshot('events', 'replay', '--type', 'batch.done', '--plan', file)).exit).toBe(2)
  const other = await replay('--workflow', 'another')
  expect(other.stderr).toContain('The plan is for the workflow tidy, not for another.')
  expect((await store.listRuns({ limit: 9 })).filter(({ origin }) => origin === 'plan')).toEqual([])
})

test('effects of a run that it invokes are not saved, because no approval of this run is for them', async () => {
  const { file, plan, workflowsDir } = await openFolder(`({ event, step }) =>
    step.invoke('call', { kind: 'workflow', id: 'child', on: 'child.go', run: () => 1 }, { data: event.data })`)
  writeFileSync(join(workflowsDir, 'child.workflow.ts'), moduleOf('child', 'child.go', TIDY))
  const { exit, stderr } = await plan()
  expect(stderr).toContain('is an effect of another run, which it invokes')
  expect(exit).toBe(1)
  expect(existsSync(file)).toBe(false)
})

test('a plan that goes on in another run is not saved, because its list would end before the work', async () => {
  const { file, plan } = await openFolder('({ step }) => step.continueAs({ data: {} })')
  expect((await plan()).stderr).toContain('it goes on in another run, by step.continueAs')
  expect(existsSync(file)).toBe(false)
})

test('a plan that cannot be saved is one error, and no plan beside it', async () => {
  const { upshot, workflowsDir } = await openFolder(TIDY)
  const words = ['--workflow', 'tidy', '--workflows', workflowsDir, '--save', workflowsDir, '--json']
  const { exit, json } = await upshot('plan', 'evt_1', ...words)
  expect({ exit, json }).toMatchObject({
    exit: 2,
    json: { error: { code: 'invalid_request', message: expect.stringContaining(workflowsDir) } },
  })
})
