import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { App } from '../../src/app/app.ts'
import { ManualClock } from '../../src/core/time.ts'
import { CHILD_ENVIRONMENT } from '../support/child-environment.ts'
import { eventBody } from '../support/fixtures.ts'
import { followLog } from '../support/process-log.ts'
import { APP, DOOR } from '../support/program.ts'
import { opensslHmac } from '../support/sign.ts'
import { startGroup } from '../support/start-group.ts'
import { FREE_PORTS, makeProject, startProcess } from '../support/start-process.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { NO_SERVICE, testConfig, WEBHOOK_SECRET } from '../support/test-config.ts'

/** Code knows it from elsewhere, as it is in no variable that code is given. */
const SECRET_KEY = Buffer.alloc(32, 'canary').toString('base64')
const hello = `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'hello', on: '*', run: async ({ step, log }) => {
  log.info('the key is ${SECRET_KEY}')
  return step.run('greet', () => 'hello')
} })`

test('an app without configuration runs the sample files and drains on SIGTERM', async () => {
  const variables = { UPSHOT_PUBLIC_ULR: 'https://here.example', UPSHOT_SECRET_KEY: SECRET_KEY }
  const started = startProcess({ 'hello.workflow.ts': hello }, variables)
  const unknown = 'the variable UPSHOT_PUBLIC_ULR is not known and does nothing; UPSHOT_PUBLIC_URL is'
  await started.line((line) => line.level === 'warn' && line.message === unknown)
  await started.line((line) => line.message === 'started')
  await started.line((line) => line.message === 'run completed' && line.workflow === 'hello')
  await started.line(({ message }) => String(message).startsWith('the key is '))
  started.child.kill('SIGTERM')
  expect(await started.exited).toEqual({ code: 0, signal: null })
  expect(JSON.stringify(started.lines)).not.toContain(SECRET_KEY)
  expect(started.lines.at(-1)).toMatchObject({ message: 'stopped' })
  expect(started.errors()).toBe('')
})

test.runIf(process.platform === 'linux')(
  'an app that may open few files starts, and says what is too few',
  async () => {
    const child = startGroup('sh', ['-c', 'ulimit -n 96; exec "$0" "$1"', process.execPath, APP], {
      cwd: makeProject({ 'hello.workflow.ts': hello }),
      env: { ...CHILD_ENVIRONMENT, ...FREE_PORTS },
    })
    const log = followLog(child)
    const warned = await log.line(({ limit }) => limit === 96)
    expect(warned).toMatchObject({ level: 'warn', connections: 5_000, message: expect.stringContaining('ulimit -n') })
    const { urls } = (await log.line(({ message }) => message === 'started')) as { urls: { receiver: string } }
    await log.line(({ message }) => message === 'run completed')
    const { port, hostname } = new URL(urls.receiver)
    const sockets = Array.from({ length: 96 }, () => connect(Number(port), hostname).on('error', () => {}))
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
    })
    const full = await log.line(({ message }) => /too many open files/.test(String(message)))
    expect(full).toMatchObject({ level: 'error', message: expect.stringContaining('ulimit -n') })
  },
)

test('an app that does not start names every missing or invalid variable', async () => {
  const started = startProcess(
    {},
    { SERVICE_BASE_URL: 'api.example.com', UPSHOT_PORT: 'http', SERVICE_API_KEY: 'canary-key' },
  )
  expect(await started.exited).toMatchObject({ code: 2 })
  const errors = started.errors()
  expect(errors).toContain('SERVICE_BASE_URL is not valid: it should be the base address')
  expect(errors).toContain('UPSHOT_PORT is not valid')
  expect(errors).toContain('SERVICE_WEBHOOK_SECRET is missing')
  expect(errors).toContain('SERVICE_STORAGE_A is missing')
  expect(errors).not.toContain('canary-key')
})

test('an app that cannot use its database says what to do once', async () => {
  const dataDir = tempFolder()
  writeFileSync(join(dataDir, 'upshot.db'), 'no database '.repeat(1_000))
  const started = startProcess({}, { UPSHOT_DATA_DIR: dataDir, UPSHOT_SECRET_KEY: SECRET_KEY })
  expect(await started.exited).toMatchObject({ code: 1 })
  expect(started.errors().match(/restore a backup/g)).toHaveLength(1)
})

test('a pinned header stays where the environment names none', async () => {
  const dataDir = tempFolder()
  const config = testConfig(dataDir, { service: { ...NO_SERVICE, signatureHeader: null } })
  const first = await App.create(config, { workflows: [] })
  await first.start()
  const [endpoint] = await first.store.listEndpoints()
  if (endpoint === undefined) throw new Error('the app has no endpoint')
  expect(endpoint.scheme.header).toBe('X-Service-Signature')
  await first.store.updateEndpoint({ ...endpoint, scheme: { ...endpoint.scheme, header: 'X-Pinned' } })
  await first.stop()
  const second = await App.create(config, { workflows: [] })
  onTestFinished(() => second.stop())
  await second.start()
  expect((await second.store.listEndpoints())[0]?.scheme.header).toBe('X-Pinned')
})

test('a new webhook secret in the environment is used, and the old one stays valid for a day', async () => {
  const dataDir = tempFolder()
  const old = await App.create(testConfig(dataDir, { service: NO_SERVICE }), { workflows: [] })
  await old.start()
  await old.stop()
  const service = { ...NO_SERVICE, webhookSecret: 'the-secret-that-comes-next', signatureHeader: 'X-Other' } as const
  const clock = new ManualClock(Date.now())
  const app = await App.create(testConfig(dataDir, { service }), { workflows: [], clock })
  onTestFinished(() => app.stop())
  const { endpoints } = await app.start()
  const post = async (id: string, secret: string) => {
    const body = eventBody(id)
    const headers = { 'Content-Type': 'application/json', 'X-Other': opensslHmac(secret, body) }
    return (await fetch(endpoints.service ?? '', { method: 'POST', headers, body })).status
  }
  expect(await post('evt_1', 'the-secret-that-comes-next')).toBe(200)
  expect(await post('evt_2', WEBHOOK_SECRET)).toBe(200)
  clock.advance('24h')
  expect(await post('evt_3', WEBHOOK_SECRET)).toBe(401)
  expect(await post('evt_4', 'the-secret-that-comes-next')).toBe(200)
})
