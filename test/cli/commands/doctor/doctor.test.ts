import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkNode, checkPorts } from '../../../../src/cli/commands/doctor/check-machine.ts'
import { checkEndpoints, checkSkew } from '../../../../src/cli/commands/doctor/check-service.ts'
import { probeKeyOf } from '../../../../src/cli/open/running-app.ts'
import { planEndpoint } from '../../../../src/core/incoming/endpoint.ts'
import { SCHEME_PRESETS, type SchemePreset } from '../../../../src/core/incoming/signature.ts'
import { isoTime } from '../../../../src/core/time.ts'
import { OPEN_STATE, storedLimits } from '../../../../src/files/limit/limiter-store.ts'
import { Secret } from '../../../../src/files/secret.ts'
import { writeRuntimeFile } from '../../../../src/project/data-dir/runtime-file.ts'
import { listen } from '../../../support/listen.ts'
import { opensslPair } from '../../../support/sign.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { startTestApp } from '../../../support/test-app.ts'
import { testConfig, WEBHOOK_SECRET } from '../../../support/test-config.ts'
import { runHere } from '../../support/run-here.ts'
import { serviceEnv } from '../../support/service-env.ts'
import { openTestProject } from '../../support/test-project.ts'

interface Finding {
  check: string
  level: string
  found: string
  fix?: string
}
const pick = (findings: Finding[], check: string) => findings.find((finding) => finding.check === check)

test('doctor finds a running app healthy, with its API key and every storage', async () => {
  const { dataDir } = await startTestApp()
  chmodSync(dataDir, 0o700)
  const { exit, json } = await runHere(dataDir, ['doctor', '--try-delete', '--json'])
  expect(json.data.findings.filter(({ level }: Finding) => level !== 'ok')).toEqual([])
  expect(exit).toBe(0)
  const names = json.data.findings.map(({ check }: Finding) => check)
  for (const name of ['node', 'config', 'disk', 'database', 'app', 'endpoint sandbox', 'service', 'clock', 'delete'])
    expect(names).toContain(name)
  expect(names.filter((name: string) => name.startsWith('read storage_'))).toHaveLength(3)
  // Ports are not checked while the app uses them.
  expect(names.filter((name: string) => name.startsWith('port'))).toEqual([])
})

test.each(Object.keys(SCHEME_PRESETS) as SchemePreset[])(
  'doctor checks an endpoint with the scheme "%s" by a signed and a tampered probe, and stores no event',
  async (preset) => {
    const { app, urls, heard, dataDir } = await startTestApp()
    const endpoint = planEndpoint({ name: 'shop', scheme: SCHEME_PRESETS[preset] }, Date.now())
    await app.store.addEndpoint(endpoint)
    const events = async () => (await app.store.listEvents({ limit: 100 })).filter(({ id }) => id.includes('doctor'))
    const store = { ...app.store, listEndpoints: async () => [endpoint] }
    const door = { receiver: urls.receiver, probeKey: probeKeyOf(testConfig(dataDir)), now: Date.now() }
    expect(await checkEndpoints(store, door)).toMatchObject([{ level: 'ok' }])
    expect(await events()).toEqual([])
    const verdicts = heard.flatMap((notice) =>
      notice.kind === 'delivery.received' && notice.endpoint === endpoint.id ? notice.verdict : [],
    )
    expect(verdicts).toEqual(['probe', 'probe'])
  },
)

test('doctor fails an endpoint whose secret differs from that of the running app', async () => {
  const { app, urls, dataDir } = await startTestApp()
  const [known] = await app.store.listEndpoints()
  if (known === undefined) throw new Error('the app has no endpoint')
  const other = { ...known, secrets: [{ position: 0, value: WEBHOOK_SECRET, activeFrom: 0, until: null }] }
  const disabled = { ...known, status: 'disabled' as const }
  const store = { ...app.store, listEndpoints: async () => [other, disabled] }
  const door = { receiver: urls.receiver, probeKey: probeKeyOf(testConfig(dataDir)), now: Date.now() }
  const findings = await checkEndpoints(store, door)
  expect(findings.map(({ level }) => level)).toEqual(['fail', 'warn'])
  expect(JSON.stringify(findings)).not.toContain(WEBHOOK_SECRET)
})

test('doctor fails an endpoint that accepts forged deliveries', async () => {
  const { createServer: createHttp } = await import('node:http')
  const server = createHttp((request, response) => {
    request.resume()
    response.end('{}')
  })
  const store = { listEndpoints: async () => [planEndpoint({ name: 'open' }, 0)] }
  const receiver = await listen(server)
  expect(await checkEndpoints(store as never, { receiver, probeKey: Buffer.alloc(32), now: 1 })).toMatchObject([
    { level: 'fail', found: 'a forged delivery was answered 200, not 401' },
  ])
})

test.each([
  ['read storage_a', 'sk_sandbox_of_nobody'],
  ['service', null],
])(
  'doctor fails the check "%s" for a wrong key or a service without an answer, and exits with 7',
  async (check, apiKey) => {
    const { sandbox } = await startTestApp()
    if (apiKey === null) await sandbox.stop()
    const env = { ...serviceEnv(sandbox.url, apiKey ?? 'sk_sandbox_x'), UPSHOT_ADMIN_PORT: '0' }
    const { exit, json, stdout } = await runHere(tempFolder(), ['doctor', '--json'], { env })
    expect(exit).toBe(7)
    expect(json).toMatchObject({ ok: true, data: { isHealthy: false } })
    expect(pick(json.data.findings, check)).toMatchObject({ level: 'fail', fix: expect.stringMatching(/\S/) })
    expect(stdout).not.toContain('sk_sandbox_')
  },
)

test('doctor tells a key that can only read from one that can delete', async () => {
  const { sandbox } = await startTestApp()
  const { key } = await sandbox.keys.create({ name: 'reader', scope: 'read-only' })
  const env = { ...serviceEnv(sandbox.url, key), UPSHOT_ADMIN_PORT: '0' }
  const { exit, json } = await runHere(tempFolder(), ['doctor', '--try-delete', '--json'], { env })
  expect(exit).toBe(0)
  expect(pick(json.data.findings, 'read storage_b')).toMatchObject({ level: 'ok' })
  expect(pick(json.data.findings, 'delete')).toMatchObject({ level: 'warn' })
})

test('doctor and status name each account whose key the service told to wait, and until when', async () => {
  const { app, dataDir, sandbox } = await startTestApp()
  const storages = { storage_a: 'storage_a', storage_b: 'storage_b', storage_c: 'storage_c' }
  const usual = { baseUrl: sandbox.url, plan: 'free' as const, storages, createdAt: 0 }
  await app.store.saveAccount({ ...usual, apiKey: 'sk_of_the_shop_4711', fallbackKey: null, name: 'shop' })
  const lab = { apiKey: 'sk_of_the_lab_0815', fallbackKey: 'sk_of_the_lab_0816', name: 'lab' }
  await app.store.saveAccount({ ...usual, ...lab })
  const limits = storedLimits(app.store)
  const until = Date.now() + 600_000
  for (const [key, blockedUntil] of Object.entries({ sk_of_the_shop_4711: until, sk_of_the_lab_0815: 1 }))
    await limits.save(new Secret(key).fingerprint(), { ...OPEN_STATE, blockedUntil }, 0)
  const { json, stdout } = await runHere(dataDir, ['doctor', '--json'])
  expect(pick(json.data.findings, 'account shop')).toMatchObject({
    level: 'warn',
    found: `the service told the key …4711 to wait, and nothing is sent with it before ${isoTime(until)}`,
  })
  expect(pick(json.data.findings, 'account lab')).toBeUndefined()
  expect(stdout).not.toContain('sk_of')
  const status = await runHere(dataDir, ['status', '--json'])
  expect(status.json.data.blockedKeys).toEqual([{ account: 'shop', key: '…4711', until: isoTime(until) }])
  expect((await runHere(dataDir, ['status'])).stdout).toMatch(
    /key +…4711 of the account shop: the service told it to wait until/,
  )
})

test('doctor reports an invalid configuration as a failed check', async () => {
  const { exit, json } = await runHere(tempFolder(), ['doctor', '--json'], { env: { UPSHOT_PORT: 'http' } })
  expect(exit).toBe(7)
  expect(pick(json.data.findings, 'config')?.found).toContain('UPSHOT_PORT is not valid')
})

test('doctor names modules whose name or folder keeps them from being loaded', async () => {
  const root = tempFolder()
  mkdirSync(join(root, 'workflows/old'), { recursive: true })
  for (const name of ['a.workflow.ts', 'b.workflow.mts', 'old/c.workflow.ts', 'a.workflow.test.ts', 'lib.ts'])
    writeFileSync(join(root, 'workflows', name), '')
  const { json } = await runHere(root, ['doctor', '--json'], { env: { UPSHOT_WORKFLOWS_DIR: join(root, 'workflows') } })
  const found = json.data.findings.filter(({ check }: Finding) => check === 'workflows')
  expect(found.map(({ level, found }: Finding) => [level, found])).toEqual([
    ['ok', `1 in ${join(root, 'workflows')}`],
    ['warn', 'b.workflow.mts is not loaded'],
    ['warn', 'old/c.workflow.ts is not loaded'],
  ])
})

test('doctor names a variable that nothing reads, and the one that was meant', async () => {
  const { json } = await runHere(tempFolder(), ['doctor', '--json'], { env: { UPSHOT_PROT: '4710' } })
  expect(pick(json.data.findings, 'variable')).toMatchObject({
    level: 'warn',
    found: 'UPSHOT_PROT is not known and does nothing',
    fix: 'Did you mean UPSHOT_PORT?',
  })
})

test('doctor --fix makes its repairs only after a confirmation', async () => {
  const dataDir = tempFolder()
  const key = join(dataDir, 'secret.key')
  const runtime = join(dataDir, 'runtime.json')
  writeFileSync(key, Buffer.alloc(32, 1).toString('base64'), { mode: 0o644 })
  chmodSync(dataDir, 0o755)
  const nobody = 'http://127.0.0.1:9'
  writeRuntimeFile(dataDir, {
    pid: 1,
    startedAt: '2026-06-01T12:00:00Z',
    receiver: nobody,
    admin: nobody,
    sandbox: null,
  })
  const env = { UPSHOT_ADMIN_PORT: '0', UPSHOT_SANDBOX_PORT: '0', UPSHOT_SANDBOX_DOWNLOAD_PORT: '0' }
  const modes = () => [key, dataDir].map((path) => statSync(path).mode & 0o777)

  expect((await runHere(dataDir, ['doctor', '--json'], { env })).exit).toBe(7)
  const refused = await runHere(dataDir, ['doctor', '--fix'], { env })
  expect(refused).toMatchObject({ exit: 3, stdout: '' })
  expect(refused.stderr).toContain('This will repair 3 problems.')
  expect(refused.stderr).toContain(`make ${key} readable by its owner only`)
  expect(modes()).toEqual([0o644, 0o755])

  const dry = await runHere(dataDir, ['doctor', '--fix', '--yes', '--dry-run', '--json'], { env })
  expect(dry).toMatchObject({ exit: 7, json: { data: { isHealthy: false } } })
  expect(dry.json.data.mended).toBeUndefined()
  expect(modes()).toEqual([0o644, 0o755])

  const mended = await runHere(dataDir, ['doctor', '--fix', '--yes', '--json'], { env })
  expect(mended).toMatchObject({ exit: 0, json: { data: { isHealthy: true } } })
  expect(mended.json.data.mended).toHaveLength(3)
  expect(modes()).toEqual([0o600, 0o700])
  expect(() => statSync(runtime)).toThrow()
})

test.each([
  [0, 'ok'],
  [29_000, 'ok'],
  [-29_000, 'ok'],
  [40_000, 'warn'],
  [-300_000, 'fail'],
])('doctor rates a clock that is %i ms off as %s', (off, level) => {
  const theirs = Date.UTC(2026, 0, 1)
  expect(checkSkew(new Date(theirs).toUTCString(), theirs + 500 + off).level).toBe(level)
})

test('doctor warns if the service sends no Date header, and fails an old Node', () => {
  expect(checkSkew(null, 0).level).toBe('warn')
  expect(checkNode('22.1.0').level).toBe('fail')
  expect(checkNode('24.0.0').level).toBe('ok')
})

test('doctor fails a port in use, and ignores the sandbox ports if no sandbox starts', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const dataDir = tempFolder()
  mkdirSync(join(dataDir, 'workflows'))
  const ports = { receiver: port, admin: 0, sandbox: port, sandboxDownload: 0 }
  const findings = await checkPorts({ ...testConfig(dataDir), ports, service: { kind: 'real' } as never })
  expect(findings.map(({ check, level }) => [check, level])).toEqual([
    ['port receiver', 'fail'],
    ['port admin', 'ok'],
  ])
  expect(findings[0]).toMatchObject({
    found: expect.stringContaining('EADDRINUSE'),
    fix: expect.stringContaining('UPSHOT_PORT'),
  })
})

test('a key that this user cannot read is told by the doctor', async () => {
  const { dataDir, store, cli } = await openTestProject()
  await store.close()
  const key = join(dataDir, 'secret.key')
  rmSync(key)
  // Not even a test that runs as root reads a folder.
  mkdirSync(key, { mode: 0o600 })
  const { findings } = (await cli('doctor')).json.data
  expect(pick(findings, 'key file')).toMatchObject({
    level: 'fail',
    found: `The key file ${key} cannot be read (EISDIR)`,
    fix: expect.stringContaining('600'),
  })
})

test('a lost key is told by the doctor and by what would need it, and no command makes a new one', async () => {
  const { dataDir, store, cli } = await openTestProject()
  await store.addApprover({ name: 'anna', publicKey: opensslPair().publicKey, roles: [], addedAt: 1, removedAt: null })
  await store.close()
  const key = join(dataDir, 'secret.key')
  rmSync(key)
  const { findings } = (await cli('doctor')).json.data
  expect(pick(findings, 'key file')).toMatchObject({ level: 'fail', found: `${key} is missing` })
  expect(pick(findings, 'database')?.found).toContain('The key of this database is missing')
  expect((await cli('runs', 'list')).exit).toBe(0)
  for (const words of ['endpoints list', 'endpoints rotate main', 'endpoints add new', 'db reseal --yes']) {
    const { json } = await cli(...words.split(' '))
    expect(json.error, words).toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining('The key of this database is missing: there is no '),
      fix: expect.stringContaining('Put it back from its copy'),
    })
  }
  expect(existsSync(key)).toBe(false)
  expect((await cli('approvers', 'list')).json.data).toMatchObject([{ name: 'anna', fingerprint: 'unreadable' }])
  // A secret of another key beside those would keep either key from opening the database.
  writeFileSync(key, randomBytes(32).toString('base64'))
  const { json } = await cli('endpoints', 'add', 'new')
  expect(json.error?.message).toMatch(/^A stored secret does not open with this key/)
})
