import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { App } from '../../src/app/app.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import type { Config } from '../../src/project/config/load-config.ts'
import { readRuntimeFile } from '../../src/project/data-dir/runtime-file.ts'
import { openDataDir } from '../support/open-data-dir.ts'
import { makeProject, startIn } from '../support/start-process.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { startTestApp } from '../support/test-app.ts'
import { NO_SERVICE, NO_SERVICE_VARIABLES, testConfig } from '../support/test-config.ts'

const followUp = defineWorkflow({ id: 'follow-up', on: 'file.created', run: () => null })
const other = defineWorkflow({ id: 'other', on: 'transfer.completed', run: () => null })

async function takePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function failToStart(dataDir: string, config: Partial<Config>, setting = ''): Promise<void> {
  const app = await App.create(testConfig(dataDir, config), { workflows: [other] })
  const refusal = { code: 'invalid_config', message: expect.stringContaining(setting) }
  await expect(app.start()).rejects.toMatchObject(refusal)
  await app.stop()
}

async function readRows(dataDir: string) {
  const store = openDataDir({ dataDir, secretKey: null })
  const [routes, endpoints] = [await store.listRoutes(), await store.listEndpoints()]
  await store.close()
  return { routes, endpoints: endpoints.map(({ name, revision }) => ({ name, revision })) }
}

const PORTS = { receiver: 0, admin: 0, sandbox: 0, sandboxDownload: 0 }

test.each([
  ['receiver', 'UPSHOT_PORT'],
  ['admin', 'UPSHOT_ADMIN_PORT'],
  ['sandbox', 'UPSHOT_SANDBOX_PORT'],
  ['sandboxDownload', 'UPSHOT_SANDBOX_DOWNLOAD_PORT'],
] as const)(
  'a first start that cannot take its %s port names %s, and leaves no route, no endpoint and no runtime file',
  async (port, setting) => {
    const dataDir = tempFolder()
    await failToStart(dataDir, { ports: { ...PORTS, [port]: await takePort() } }, setting)
    expect(await readRows(dataDir)).toEqual({ routes: null, endpoints: [] })
    expect(readRuntimeFile(dataDir)).toBeNull()
  },
)

test.each(['receiver', 'admin', 'sandbox', 'sandboxDownload'] as const)(
  'a second start that cannot take its %s port leaves the rows and the runtime file of the first app alone',
  async (port) => {
    const { dataDir } = await startTestApp({ workflows: [followUp] })
    const before = { rows: await readRows(dataDir), runtime: readRuntimeFile(dataDir) }
    await failToStart(dataDir, { ports: { ...PORTS, [port]: await takePort() } })
    expect({ rows: await readRows(dataDir), runtime: readRuntimeFile(dataDir) }).toEqual(before)
    expect(before.runtime).not.toBeNull()
  },
)

test('a start that fails does not rotate the secret of the endpoint of the service', async () => {
  const dataDir = tempFolder()
  const first = await App.create(testConfig(dataDir, { service: NO_SERVICE }), { workflows: [] })
  await first.start()
  await first.stop()
  const service = { ...NO_SERVICE, webhookSecret: 'the-secret-that-comes-next' }
  await failToStart(dataDir, { service, ports: { ...PORTS, admin: await takePort() } })
  expect((await readRows(dataDir)).endpoints).toEqual([{ name: 'service', revision: 0 }])
})

test('a start that the system refuses ends with the path in one line', async () => {
  const root = makeProject({})
  mkdirSync(join(root, 'data/runtime.json'), { recursive: true })
  const { exited, errors } = startIn(root, NO_SERVICE_VARIABLES)
  expect(await exited).toMatchObject({ code: 1 })
  expect(errors()).toMatch(/^[A-Z]+: .*runtime\.json'\n$/)
}, 60_000)

test('the end of an app leaves the runtime file of an app that started later', async () => {
  const { app, dataDir } = await startTestApp()
  const second = await App.create(testConfig(dataDir, { service: NO_SERVICE }), { workflows: [] })
  onTestFinished(() => second.stop())
  const { admin } = await second.start()
  await app.stop()
  expect(readRuntimeFile(dataDir)).toMatchObject({ admin })
})
