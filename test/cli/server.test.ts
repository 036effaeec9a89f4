import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { RouteName } from '../../src/admin/contract/routes.ts'
import { cron } from '../../src/author/cron.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { callable } from '../../src/author/trigger.ts'
import { TerminalError } from '../../src/core/errors.ts'
import { makeRuns } from '../admin/support/bulk.ts'
import { openAdmin } from '../support/admin-client.ts'
import { listen } from '../support/listen.ts'
import { DOOR } from '../support/program.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { startTestApp } from '../support/test-app.ts'
import { COMMANDS } from './support/command-names.ts'
import { runCli } from './support/run-cli.ts'
import { runHere } from './support/run-here.ts'

const workflows = [
  defineWorkflow({
    id: 'on-invoice',
    on: 'invoice.paid',
    run: ({ step }) =>
      step.run('book', () => {
        throw new TerminalError('the ledger is closed')
      }),
  }),
  defineWorkflow({ id: 'report', on: callable(z.object({ month: z.string() })), run: async ({ input }) => input }),
  defineWorkflow({ id: 'ask-first', on: 'ask.first', run: ({ step }) => step.approve('look', { ask: 'May I?' }) }),
  defineWorkflow({ id: 'nightly', on: cron('0 3 * * *', { timezone: 'UTC' }), run: async () => 'slept' }),
]

/** An app with a failed run, and `upshot` on another machine: a folder without a database. */
async function startFarApp() {
  const { app, urls, dataDir, sandbox, hear } = await startTestApp({ workflows })
  const client = openAdmin(dataDir, urls.admin)
  const far = tempFolder()
  const tokenFile = join(far, 'token')
  const withToken = async (role: 'viewer' | 'operator' | 'admin') => {
    const { secret } = await client.call('POST /tokens', { body: { name: `laptop-${role}`, role } })
    writeFileSync(tokenFile, `${secret}\n`)
  }
  await withToken('admin')
  const env = { UPSHOT_SERVER: urls.admin, UPSHOT_TOKEN_FILE: tokenFile }
  const upshot = (...args: string[]) => runHere(far, [...args, '--json'], { env })
  const failed = hear('run.failed')
  await client.call('POST /events', { body: { type: 'invoice.paid', data: { no: 7 }, id: 'evt_far0001' } })
  const { run } = await failed
  return { app, urls, dataDir, sandbox, hear, client, far, upshot, withToken, run, tokenFile }
}

/** Commands and the operation whose answer each prints. */
const PRINTED: [command: string[], operation: RouteName, input?: object][] = [
  [['runs', 'list'], 'GET /runs', { query: { limit: 20 } }],
  [['events', 'list'], 'GET /events', { query: { limit: 20 } }],
  [['deliveries', 'list'], 'GET /deliveries', { query: { limit: 20 } }],
  [['workflows', 'list'], 'GET /workflows'],
  [['schedules', 'list'], 'GET /schedules'],
  [['endpoints', 'list'], 'GET /endpoints'],
  [['accounts', 'list'], 'GET /accounts'],
  [['tokens', 'list'], 'GET /tokens'],
  [['approvers', 'list'], 'GET /approvers'],
  [['approvals', 'list', '--status', 'all'], 'GET /approvals', { query: { limit: 20 } }],
  [['operations', 'list'], 'GET /operations', { query: { limit: 20 } }],
  [['alerts', 'list'], 'GET /alerts'],
  [['effects', 'list'], 'GET /effects', { query: { limit: 20 } }],
  [['guard', 'show'], 'GET /guard'],
  [['accounts', 'show', 'default'], 'GET /accounts/:name', { params: { name: 'default' } }],
  [['endpoints', 'show', 'sandbox'], 'GET /endpoints/:name', { params: { name: 'sandbox' } }],
  [['events', 'show', 'evt_far0001'], 'GET /events/:id', { params: { id: 'evt_far0001' } }],
  [
    ['events', 'show', 'evt_far0001', '--trace'],
    'GET /events/:id/trace',
    { params: { id: 'evt_far0001' }, query: { steps: 'true' } },
  ],
  [['coverage'], 'POST /coverage', { body: {} }],
]

/** Parts of an answer that tell of the moment. */
const settle = (value: unknown) =>
  JSON.parse(JSON.stringify(value, (name, part) => (/^(ms|lastUsedAt|nextAt)$/.test(name) ? null : part)))

test('a command prints the answer of its operation, at a server and beside the database', async () => {
  const { client, upshot, dataDir } = await startFarApp()
  for (const [command, operation, input] of PRINTED) {
    const answer = (await client.call(operation as 'GET /runs', input as never)) as object
    const { items, ...about } = answer as { items?: unknown[] }
    const expected = items === undefined ? { ok: true, data: answer } : { ok: true, data: items, ...about }
    const far = await upshot(...command)
    expect({ command, stderr: far.stderr, json: settle(far.json) }).toEqual({
      command,
      stderr: '',
      json: settle(expected),
    })
    const near = await runHere(dataDir, [...command, '--json'])
    expect({ command, json: settle(near.json) }).toEqual({ command, json: settle(expected) })
  }
})

test('status, top and a prune tell of the server, as its operations do', async () => {
  const { client, upshot, run } = await startFarApp()
  const { processes } = await client.call('GET /system')
  const status = await upshot('status')
  expect(status).toMatchObject({ exit: 0, json: { data: { isReady: true, sweeps: [] } } })
  expect(status.json.data.processes.map(({ id }: { id: string }) => id)).toEqual(processes.map(({ id }) => id))
  const { forPerson, overview, system } = (await upshot('top', '--once')).json.data
  expect({ of: forPerson.map(({ id }: { id: string }) => id), failed: overview.failed.count }).toEqual({
    of: [run],
    failed: 1,
  })
  expect(system.processes).toHaveLength(processes.length)
  const { items } = await client.call('GET /retention/prunable')
  expect((await upshot('db', 'prune', '--dry-run')).json.data).toEqual({ pruned: null, prunable: items })
})

test('at a server, actions carry the name and the reason of the token into the audit log', async () => {
  const { app, upshot, run, hear } = await startFarApp()
  expect((await upshot('runs', 'resolve', run.slice(0, 20), '--reason', 'booked by hand')).json.data.done).toBe(1)
  const { json } = await upshot('audit', 'list', '--target', run)
  expect(json.data).toMatchObject([
    { action: 'run.resolve', actor: 'token:laptop-admin', role: 'admin', reason: 'booked by hand' },
  ])
  expect((await upshot('runs', 'retry', run)).json.data).toMatchObject({ done: 1 })
  await hear('run.failed', (notice) => notice.run === run)
  const started = await upshot('workflows', 'start', 'report', '--input', '{"month":"2026-11"}', '--once', 'a')
  expect((await upshot('workflows', 'start', 'report', '--input', '{"month":"2026-11"}', '--once', 'a')).json).toEqual(
    started.json,
  )
  await hear('run.completed', (notice) => notice.run === started.json.data.id)
  expect((await upshot('runs', 'show', started.json.data.id)).json.data.output).toEqual({ month: '2026-11' })
  expect((await upshot('workflows', 'pause', 'report')).json.data.pausedAt).not.toBeNull()
  expect((await upshot('schedules', 'run', 'nightly')).json.data).toMatchObject([{ origin: 'manual' }])
  expect((await upshot('tokens', 'revoke', 'laptop-admin', '--reason', 'lost', '--yes')).json.data.revoked).toBe(true)
  const [row] = await app.store.listActions({ limit: 1 })
  expect(row).toMatchObject({ action: 'token.revoke', actor: 'token:laptop-admin', reason: 'lost' })
})

test('a selection is an operation of the server, which says first how many runs it means', async () => {
  const { app, upshot, run, dataDir } = await startFarApp()
  const dry = ['runs', 'resolve', '--status', 'failed', '--reason', 'all of them', '--dry-run', '--json']
  for (const told of [await upshot(...dry), await runHere(dataDir, dry)])
    expect(told.json.data).toMatchObject({ dryRun: true, matched: 1, first: [run], refused: 0, refusals: [] })
  expect(await app.store.listBulks({ limit: 1 })).toEqual([])
  expect(await app.store.listActions({ limit: 9, action: 'operation.*' })).toEqual([])
  const asked = await upshot('runs', 'resolve', '--status', 'failed', '--reason', 'all of them')
  expect(asked).toMatchObject({
    exit: 3,
    json: { error: { message: expect.stringContaining('resolve 1 run (failed)') } },
  })
  const done = await upshot('runs', 'resolve', '--status', 'failed', '--reason', 'all of them', '--yes')
  expect(done.json.data).toMatchObject({
    kind: 'resolve',
    done: 1,
    refused: 0,
    operation: expect.stringMatching(/^opr_/),
  })
  expect((await upshot('runs', 'list', '--resolved')).json.data).toMatchObject([{ id: run }])
})

test('a role, a token and an address that are not enough are told in a sentence, with an exit code', async () => {
  const { upshot, far, tokenFile, urls, withToken, run } = await startFarApp()
  await withToken('viewer')
  expect(await upshot('runs', 'cancel', run)).toMatchObject({ exit: 4, json: { error: { code: 'forbidden' } } })
  writeFileSync(tokenFile, 'wrong\n')
  const refused = await upshot('runs', 'list')
  expect(refused).toMatchObject({ exit: 4, json: { error: { code: 'unauthenticated' } } })
  expect(refused.json.error.message).toContain('refuses the token')
  const at = (server: string, file = tokenFile) =>
    runHere(far, ['runs', 'list', '--json', '--server', server, '--token-file', file])
  expect((await at('https://127.0.0.1:1')).json.error).toMatchObject({ code: 'service_failed' })
  expect(await at('http://upshot.example.com')).toMatchObject({ exit: 2, json: { error: { code: 'invalid_config' } } })
  expect(await at('nonsense')).toMatchObject({ exit: 2 })
  expect(await at(urls.admin, join(far, 'none'))).toMatchObject({ exit: 2 })
  const tls = await at(urls.admin.replace('http:', 'https:'))
  expect(tls.json.error.message).toContain('does not speak TLS')
})

test('the doctor of a server examines its machine, and repairs nothing from afar', async () => {
  const { upshot, client } = await startFarApp()
  const { exit, json } = await upshot('doctor')
  const failed = json.data.findings.filter(({ level }: { level: string }) => level === 'fail')
  expect({ exit, isHealthy: json.data.isHealthy }).toEqual(
    failed.length === 0 ? { exit: 0, isHealthy: true } : { exit: 7, isHealthy: false },
  )
  expect(json.data.findings.map(({ check }: { check: string }) => check)).toContain('endpoint sandbox')
  const { items } = await client.call('GET /audit', { query: { action: 'doctor.run' } })
  expect(items).toHaveLength(1)
  expect((await upshot('doctor', '--fix')).json.error.message).toContain('does nothing else')
})

test('an approver decides at a server with a signature, and with the key of another nothing is decided', async () => {
  const { app, client, upshot, far, hear } = await startFarApp()
  const makeKey = (name: string) => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    writeFileSync(join(far, `${name}.key`), privateKey.export({ type: 'pkcs8', format: 'pem' }))
    writeFileSync(join(far, `${name}.pub`), publicKey.export({ type: 'spki', format: 'pem' }))
    return join(far, name)
  }
  const [anna, eve] = ['anna', 'eve'].map(makeKey)
  expect((await upshot('approvers', 'add', 'anna', '--key', `${anna}.pub`)).json.data.name).toBe('anna')
  const parked = hear('run.parked')
  await client.call('POST /events', { body: { type: 'ask.first', data: {} } })
  const { run } = await parked
  const [{ id, hash }] = (await upshot('approvals', 'list')).json.data
  const approve = (...more: string[]) => upshot('approvals', 'approve', id, '--hash', hash.slice(0, 8), ...more)
  expect(await approve()).toMatchObject({ exit: 1, json: { ok: false } })
  expect((await approve('--key-file', `${anna}.key`)).json.error.fix).toContain('--as')
  expect(await approve('--as', 'anna', '--key-file', `${eve}.key`)).toMatchObject({ json: { ok: false } })
  expect(await app.store.findApproval(id, Date.now())).toMatchObject({ status: 'open', votes: [] })
  const completed = hear('run.completed', (notice) => notice.run === run)
  expect((await approve('--as', 'anna', '--key-file', `${anna}.key`)).json).toMatchObject({ ok: true })
  expect((await completed).run).toBe(run)
  expect((await app.store.findApproval(id, Date.now()))?.votes).toMatchObject([{ actor: 'anna', isSigned: true }])
})

test('a certificate that nothing vouches for is told, and the token is not sent', async () => {
  const far = tempFolder()
  writeFileSync(join(far, 'token'), 'upk_1')
  const [key, cert] = [join(far, 'key.pem'), join(far, 'cert.pem')]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-keyout', key, '-out', cert, ...subject]
  execFileSync('openssl', args, { stdio: 'ignore' })
  let asked = 0
  const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, () => void asked++)
  const url = (await listen(server)).replace('http:', 'https:')
  const told = await runHere(far, ['runs', 'list', '--json', '--server', url, '--token-file', join(far, 'token')])
  expect(told).toMatchObject({ exit: 2, json: { error: { code: 'invalid_config' } } })
  expect(told.json.error.message).toMatch(/The certificate of https:\/\/127.* is not trusted here \(.*SELF_SIGNED/)
  expect(told.json.error.fix).toContain('NODE_EXTRA_CA_CERTS')
  expect(asked).toBe(0)
})

test('a server of another kind, a redirect and another version are told', async () => {
  const far = tempFolder()
  writeFileSync(join(far, 'token'), 'upk_1')
  let answer: { status: number; headers?: Record<string, string>; body?: unknown; text?: string } = { status: 200 }
  const server = createServer((_request, response) => {
    const { status, headers, body = '<html>', text = JSON.stringify(body) } = answer
    response.writeHead(status, headers).end(text)
  })
  const url = await listen(server)
  const list = async () => {
    const args = ['runs', 'list', '--json', '--server', url, '--token-file', join(far, 'token')]
    return (await runHere(far, args)).json.error
  }
  for (const stranger of [{ status: 404 }, { status: 200 }, { status: 200, text: '<html>' }]) {
    answer = stranger
    expect((await list()).message).toContain('does not answer like the admin server')
  }
  for (const args of [
    ['effects', 'export'],
    ['runs', 'tail'],
  ]) {
    const told = await runCli(far, [...args, '--server', url, '--token-file', join(far, 'token')])
    expect(told).toMatchObject({ exit: 2, stdout: '' })
    expect(told.stderr).toContain('does not answer like the admin server')
  }
  answer = { status: 502 }
  expect(await list()).toMatchObject({ code: 'service_failed', message: expect.stringContaining('does not reach') })
  answer = { status: 421, body: { code: 'misdirected', detail: 'Not under this name.', status: 421 } }
  const posted = await runHere(far, ['doctor', '--json', '--server', url, '--token-file', join(far, 'token')])
  expect(posted.json.error).toMatchObject({ code: 'misdirected', message: expect.stringContaining('under this name') })
  answer = { status: 302, headers: { location: 'http://127.0.0.1:1/' } }
  expect((await list()).message).toContain('redirects')
  const problem = { code: 'unknown_operation', detail: 'The admin API has no GET /runs.', status: 404 }
  answer = { status: 404, headers: { 'x-upshot-version': '0.0.9' }, body: problem }
  expect(await list()).toMatchObject({
    code: 'unknown_operation',
    message: expect.stringMatching(/has version 0\.0\.9, and this command \d/),
    fix: 'Use the version of the server.',
  })
})

test('an answer that is cut in its middle is told', async () => {
  const far = tempFolder()
  writeFileSync(join(far, 'token'), 'upk_1')
  const half = '{"items":'
  // A proxy may end a half as if it were the whole.
  const server = createServer(({ url = '' }, response) => {
    const length = url.includes('/runs') ? half.length : 2 * half.length
    response.writeHead(200, { 'x-upshot-version': '0.1.0', 'content-length': length })
    response.write(half, () => response.destroy())
  })
  const url = await listen(server)
  for (const list of ['runs', 'workflows']) {
    const told = await runCli(far, [list, 'list', '--server', url, '--token-file', join(far, 'token')])
    expect(told).toMatchObject({ exit: 6, stderr: expect.stringContaining('ended before the whole answer') })
  }
})

/** Commands of this machine: its files, its processes, its project, or the sandbox. */
const HERE = new RegExp(
  [
    '^(init|dev|start|dashboard|completion|version|plan|backtest',
    'sandbox .*|db (migrate|move|reseal)|approvers key|endpoints (send|solve))$',
  ].join('|'),
)

test('no command asks the database of this machine where a server is named', async () => {
  const { upshot, far } = await startFarApp()
  mkdirSync(join(far, 'workflows'), { recursive: true })
  const args: Record<string, string[]> = { top: ['--once'], 'db backup': [join(far, 'app.db')] }
  for (const command of COMMANDS.filter((name) => !HERE.test(name) && !name.endsWith('tail'))) {
    const { json } = await upshot(...command.split(' '), ...(args[command] ?? ['evt_far0001']))
    const message = String(json?.error?.message ?? '')
    expect({ command, isLocal: /no database in|data directory/.test(message) }).toEqual({ command, isLocal: false })
  }
})

test('config show tells the settings of the server, and refuses to say where they come from', async () => {
  const { upshot, far } = await startFarApp()
  const { exit, json } = await upshot('config', 'show')
  expect(exit).toBe(0)
  const dataDir = json.data.find(({ setting }: { setting: string }) => setting === 'dataDir').value
  expect(dataDir).not.toContain(far)
  expect((await upshot('config', 'show', '--origins')).json.error.message).toContain('where each comes from')
})

test('the ledger and the database are verified at a server, with anchors of the laptop', async () => {
  const { upshot, client, far, withToken } = await startFarApp()
  expect(await upshot('effects', 'restored', '--yes', '--reason', 'a drill')).toMatchObject({ exit: 0 })
  const { data: anchor } = (await upshot('effects', 'anchor')).json
  const kept = (mac: string) => {
    writeFileSync(join(far, 'anchors'), JSON.stringify({ ...anchor, mac }))
    return upshot('effects', 'verify', '--anchors', join(far, 'anchors'))
  }
  const sound = await kept(anchor.mac)
  expect(sound).toMatchObject({ exit: 0, json: { data: { passed: true, anchors: 1, anchored: anchor } } })
  const broken = await kept('0'.repeat(64))
  expect(broken).toMatchObject({ exit: 7, json: { data: { passed: false, faultCount: 1 } } })
  const whole = await upshot('db', 'verify')
  expect(whole).toMatchObject({ exit: 0, json: { data: { passed: true, rows: { run: 1 } } } })
  const { items } = await client.call('GET /audit')
  const done = items.map(({ action }) => action).filter((action) => action.endsWith('.verify'))
  expect(done).toEqual(['db.verify', 'effects.verify', 'effects.verify'])
  await withToken('operator')
  expect(await upshot('db', 'verify')).toMatchObject({ exit: 4 })
  expect(await upshot('effects', 'verify')).toMatchObject({ exit: 0 })
})

test('a backup of a server comes to the laptop, whole and once, and removes no file of a person', async () => {
  const { upshot, client, far, dataDir, withToken } = await startFarApp()
  const folder = join(dataDir, 'backups-to-fetch')
  mkdirSync(folder)
  const killed = 'killed0in0work0a.db.0b3cd1ae-8c5e-4f6e-9d5b-1f2e3d4c5b6a.backup.part'
  for (const name of ['monday.db', 'never0fetched00a.db', killed, `${killed}-journal`]) {
    writeFileSync(join(folder, name), '')
    utimesSync(join(folder, name), 0, 0)
  }
  const file = join(far, 'app.db')
  const mine = 'app.db.0b3cd1ae-8c5e-4f6e-9d5b-1f2e3d4c5b6a.backup.part'
  // Left by a command that was killed.
  writeFileSync(join(far, mine), 'half')
  utimesSync(join(far, mine), 0, 0)
  const made = await upshot('db', 'backup', file)
  expect(made).toMatchObject({ exit: 0, json: { data: { file, made: true, rows: { run: 1 } } } })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await runHere(far, ['db', 'verify', file, '--json'])).toMatchObject({ json: { data: { rows: { run: 1 } } } })
  expect(readdirSync(folder)).toEqual(['monday.db'])
  expect(readdirSync(far)).not.toContain(mine)
  expect(await upshot('db', 'backup', file)).toMatchObject({
    exit: 1,
    json: { error: { code: 'conflict', fix: expect.stringContaining('does not exist yet') } },
  })
  const { items } = await client.call('GET /audit', { query: { action: 'db.backup' } })
  expect(items).toMatchObject([{ actor: 'token:laptop-admin', outcome: 'begun' }])
  const disk = mountSmallDisk(1)
  if (disk !== null) {
    expect(() => writeFileSync(join(disk, 'filler'), Buffer.alloc(1 << 21))).toThrow(/ENOSPC/)
    const full = await upshot('db', 'backup', join(disk, 'app.db'))
    expect(full).toMatchObject({ exit: 6, json: { error: { code: 'store_unavailable' } } })
    expect(readdirSync(disk)).toEqual(['filler'])
  }
  await withToken('operator')
  expect(await upshot('db', 'backup', join(far, 'more.db'))).toMatchObject({ exit: 4 })
})

test('schemas are made and checked from the events of a server, against the workflows of the laptop', async () => {
  const { upshot, client, far } = await startFarApp()
  const made = await upshot('types', 'generate', 'invoice.*')
  expect(made.json.data.module).toContain("export const invoicePaid = defineEvent('invoice.paid', {")
  const workflows = join(far, 'workflows')
  mkdirSync(workflows)
  const module = `import { defineEvent, defineWorkflow, z } from '${DOOR}'
const paid = defineEvent('invoice.paid', { data: z.object({ no: z.string() }) })
export default defineWorkflow({ id: 'book', on: paid, async run() {} })`
  writeFileSync(join(workflows, 'book.workflow.ts'), module)
  vi.stubEnv('UPSHOT_WORKFLOWS_DIR', workflows)
  const checked = await upshot('types', 'check')
  expect(checked).toMatchObject({ exit: 7, json: { data: { definitions: [{ type: 'invoice.paid', misfits: 1 }] } } })
  const exported = await Array.fromAsync(client.stream('GET /events/export', { query: { type: 'invoice.paid' } }))
  const text = Buffer.concat(exported).toString()
  expect(JSON.parse(text)).toMatchObject({ id: 'evt_far0001', account: 'default', data: { no: 7 } })
})

test('files are listed, fetched, compared and deleted at a server, by its role and in its audit log', async () => {
  const { upshot, client, far, sandbox, withToken } = await startFarApp()
  const storage = sandbox.storage('storage_a')
  for (const [path, text] of [
    ['/in/a.txt', 'four'],
    ['/in/b.txt', 'fives'],
    ['/to/a.txt', 'five'],
  ] as const)
    await storage.put(path, text)
  const listed = await upshot('files', 'ls', 'Storage-A:/in')
  expect(listed.json.data.map(({ path }: { path: string }) => path)).toEqual(['/in/a.txt', '/in/b.txt'])
  const to = join(far, 'b.txt')
  const part = listed.json.data[1]
  writeFileSync(`${to}.part`, 'fi')
  const marks = { service: part.service, id: part.id, size: part.size, modifiedAt: part.modifiedAt, version: null }
  const unmarked = { host: null, etag: null, modified: null, type: null, condition: null }
  writeFileSync(`${to}.part.json`, JSON.stringify({ ...marks, version: unmarked }))
  const got = await upshot('files', 'get', 'storage_a:/in/b.txt', '--output', to)
  expect(got).toMatchObject({ exit: 0, json: { data: { bytes: 5, resumedFrom: 2, saved: true } } })
  expect(readFileSync(to, 'utf8')).toBe('fives')
  const { json } = await upshot('files', 'url', 'storage_a:/in/a.txt')
  expect(await (await fetch(json.data.url)).text()).toBe('four')
  const diff = ['files', 'diff', 'storage_a:/in', 'storage_a:/to', '--content']
  expect((await upshot(...diff)).json.data.counts).toMatchObject({ differs: 1, only_one: 1 })
  await withToken('viewer')
  expect(await upshot('files', 'ls', 'storage_a:/in')).toMatchObject({ exit: 4 })
  await withToken('operator')
  const rm = ['files', 'rm', 'storage_a:/in', '--recursive']
  expect(await upshot(...rm)).toMatchObject({ exit: 3, json: { error: { code: 'needs_confirmation' } } })
  const removed = await upshot(...rm, '--yes', '--reason', 'a clean-up')
  expect(removed).toMatchObject({ exit: 0, json: { data: { counts: { deleted: 2 } } } })
  expect(storage.list().filter(({ path }) => path.startsWith('/in/'))).toEqual([])
  const { items } = await client.call('GET /audit', { query: { action: 'files.rm' } })
  expect(items).toMatchObject([{ actor: 'token:laptop-operator', reason: 'a clean-up', parameters: { count: 2 } }])
})

test('what belongs to the machine of the app says so at a server', async () => {
  const { upshot } = await startFarApp()
  for (const command of ['migrate', 'move', 'reseal']) {
    const { exit, json } = await upshot('db', command)
    expect({ command, exit, message: json.error.message }).toMatchObject({
      command,
      exit: 2,
      message: expect.stringContaining('on the machine of the app'),
    })
  }
})

test('a text is found at a server, whose project nobody looks through', async () => {
  const { upshot, client } = await startFarApp()
  const data = { name: 'Zacharias Quint' }
  await client.call('POST /events', { body: { type: 'person.joined', data, id: 'evt_quint01' } })
  const found = (await upshot('privacy', 'find', '--text', 'zacharias quint')).json.data
  expect(found).toMatchObject({ rows: expect.any(Number), neededBy: [], files: [] })
  expect(found.places).toContainEqual({ table: 'event', column: 'body', rows: 1 })
})

test('Ctrl-C aborts an operation at a server, too, and the command says so with exit code 1', async () => {
  const { client, dataDir, upshot } = await startFarApp()
  makeRuns(dataDir, 450, 'failed', Date.now() - 1_000)
  const slowly = ['--workflow', 'w', '--per-second', '3', '--reason', 'the service is back', '--yes']
  const retrying = upshot('runs', 'retry', ...slowly)
  const listDone = async () => (await client.call('GET /operations')).items[0]?.done
  await expect.poll(listDone).toBeGreaterThan(0)
  process.emit('SIGINT')
  const { exit, json } = await retrying
  expect({ exit, data: json.data }).toMatchObject({ exit: 1, data: { kind: 'retry', status: 'aborted' } })
  expect(json.data.done).toBeLessThan(450)
})
