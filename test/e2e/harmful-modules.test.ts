import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { listBrokenModules } from '../../src/core/store/process-record.ts'
import { runCli } from '../cli/support/run-cli.ts'
import { eventBody } from '../support/fixtures.ts'
import { openDataDir } from '../support/open-data-dir.ts'
import { BLOCK, DOOR } from '../support/program.ts'
import { opensslHmac } from '../support/sign.ts'
import { makeProject, startIn } from '../support/start-process.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { NO_SERVICE_VARIABLES, WEBHOOK_SECRET } from '../support/test-config.ts'

const moduleOf = (id: string, on: string, run = `step.run('only', () => '${id}')`) =>
  `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: '${id}', on: '${on}', run: ({ step }) => ${run} })`

/** Harm that a module does at its top level, and the reason that its fault gives. */
const HARM: Record<string, [code: string, why: string]> = {
  'hangs.workflow.ts': ['await new Promise(() => {})', 'it was not loaded within 10 s'],
  'exits.workflow.ts': [
    'process.exit(3)',
    'it ended the engine while it was loaded (The code of a workflow called process.exit(3))',
  ],
  'loops.workflow.ts': [BLOCK, 'it blocked the engine for 10 s while it was loaded'],
}

function project() {
  const root = makeProject({ 'sound.workflow.ts': moduleOf('sound', 'file.deleted') })
  const store = openDataDir({ dataDir: join(root, 'data'), secretKey: null })
  onTestFinished(() => store.close())
  const write = (file: string, text: string) => writeFileSync(join(root, 'workflows', file), text)
  const start = async (variables = {}) => {
    const started = startIn(root, { ...NO_SERVICE_VARIABLES, ...variables })
    const { urls } = await started.line(({ message }) => message === 'started')
    const deliver = async (id: string, type: string) => {
      const body = eventBody(id, type)
      const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': opensslHmac(WEBHOOK_SECRET, body) }
      const url = (urls as Record<string, string>)['endpoint service'] ?? ''
      expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(200)
    }
    const stop = async () => {
      started.child.kill('SIGTERM')
      await started.exited
    }
    return { ...started, deliver, stop }
  }
  return { store, write, start }
}

test('modules that hang, exit or loop as they are loaded are named, and their events wait for them', async () => {
  const { store, write, start } = project()
  for (const file of Object.keys(HARM)) write(file, moduleOf(file.split('.')[0] ?? '', 'file.created'))
  const before = await start()
  await before.stop()
  for (const [file, [code]] of Object.entries(HARM))
    write(file, `${code}\n${moduleOf(file.split('.')[0] ?? '', 'file.created')}`)
  const started = await start()
  await started.deliver('evt_1', 'file.deleted')
  await started.line(({ message, workflow }) => message === 'run completed' && workflow === 'sound')
  const broken = started.lines.filter(({ message }) => message === 'workflow broken')
  expect(broken.map(({ file }) => file).sort()).toEqual(Object.keys(HARM).sort())
  for (const { file, err } of broken) {
    expect((err as Error).message).toContain(`The module is skipped: ${HARM[String(file)]?.[1]}. At the top level`)
  }
  const rows = await listBrokenModules(store, Date.now())
  expect(rows.map(({ file }) => file).sort()).toEqual(Object.keys(HARM).sort())
  for (const { file, reason } of rows) expect(reason).toContain(HARM[file]?.[1])
  await started.deliver('evt_2', 'file.created')
  const waiting = (await store.listRuns({ limit: 10 })).filter(({ workflow }) => workflow !== 'sound')
  expect(waiting.map(({ workflow }) => workflow).sort()).toEqual(['exits', 'hangs', 'loops'])
  await started.stop()
  for (const file of Object.keys(HARM)) write(file, moduleOf(file.split('.')[0] ?? '', 'file.created'))
  const mended = await start()
  const runs = await Promise.all(
    waiting.map(({ id }) => mended.line(({ message, run }) => message === 'run completed' && run === id)),
  )
  expect(runs).toHaveLength(3)
  expect(await listBrokenModules(store, Date.now())).toEqual([])
}, 240_000)

test('"types check" leaves out a module that loops as it is loaded, and names it', async () => {
  const workflows = tempFolder()
  writeFileSync(join(workflows, 'loops.workflow.ts'), BLOCK)
  const dataDir = tempFolder()
  await openDataDir({ dataDir, secretKey: null }).close()
  const checked = await runCli(dataDir, ['types', 'check'], { env: { UPSHOT_WORKFLOWS_DIR: workflows } })
  expect(checked).toMatchObject({ exit: 1, stderr: expect.stringContaining('loops.workflow.ts does not load') })
}, 120_000)

test('a module that blocks the engine as it is loaded anew is left out until mended, and blames no run', async () => {
  const { store, write, start } = project()
  write('late.workflow.ts', moduleOf('late', 'file.created'))
  write('busy.workflow.ts', moduleOf('busy', 'folder.created', `step.run('work', () => new Promise(() => {}))`))
  const started = await start({ UPSHOT_DEV: '1' })
  await started.deliver('evt_1', 'folder.created')
  write('late.workflow.ts', `${BLOCK}\n${moduleOf('late', 'file.created')}`)
  const isEnd = ({ message }: Record<string, unknown>) => message === 'the engine ended and is started again'
  expect(await started.line(isEnd)).toMatchObject({ cause: 'blocked', runs: [] })
  await started.line(({ message, file }) => message === 'workflow broken' && file === 'late.workflow.ts')
  await started.deliver('evt_2', 'file.deleted')
  await started.line(({ message, workflow }) => message === 'run completed' && workflow === 'sound')
  expect(await store.hasSuspects()).toBe(false)
  write('late.workflow.ts', moduleOf('late', 'file.created'))
  await started.deliver('evt_3', 'file.created')
  await started.line(({ message, workflow }) => message === 'run completed' && workflow === 'late')
  expect(started.lines.filter(isEnd)).toHaveLength(1)
}, 240_000)
