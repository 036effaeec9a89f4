import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { deriveEventId } from '../../../../../src/core/ids.ts'
import { planEndpoint } from '../../../../../src/core/incoming/endpoint.ts'
import type { Checkpoint } from '../../../../../src/core/runs/step.ts'
import { checkpoint, eventBody, incoming } from '../../../../support/fixtures.ts'
import { listen } from '../../../../support/listen.ts'
import { openDataDir } from '../../../../support/open-data-dir.ts'
import { BLOCK, DOOR } from '../../../../support/program.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { runCli } from '../../../support/run-cli.ts'
import { serviceEnv } from '../../../support/service-env.ts'

/** Reads and deletes, sleeps for a day, writes a file, and tries each way out that it is given. */
const CODE = (attempt: string) => `import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'tidy', on: 'file.created', run: async ({ event, files, step }) => {
  const { service, file, token } = event.data
  const found = await files.get({ service, id: file.id })
  const hash = await files.hash(found)
  await step.sleep('grace', '1d')
  const { outcome } = await files.delete(found)
  const left = await files.list({ service, path: '/in' })
  await step.run('note', () => writeFileSync(join(process.env.UPSHOT_DATA_DIR, 'note.txt'), found.path))
  ${attempt}
  const { UPSHOT_DATA_DIR, UPSHOT_REHEARSAL_REACH, PATH, HOME, TZ, TMPDIR, NODE_COMPILE_CACHE, ...rest } = process.env
  return { outcome, size: found.size, at: found.modifiedAt, sha: hash.sha256, token, service,
    left: left.items.map((each) => each.id), variables: Object.keys(rest) }
} })
`
const ENTRY = {
  id: 'fil 1/ü',
  name: 'a.bin',
  type: 'file',
  mimeType: null,
  size: 3_000_000,
  path: '/in/a.bin',
  createdAt: '2026-01-02T03:04:05.000Z',
  modifiedAt: '2026-01-03T03:04:05.000Z',
}
const OTHER = { ...ENTRY, id: 'fil_2', name: 'b.bin', path: '/in/b.bin', size: 7 }

/** A project whose service records each request, with an event and a run of it. */
async function openProject({ attempt = '', type = 'file.created', steps = [] as Checkpoint[], id = 'evt_1' } = {}) {
  const requests: string[] = []
  const service = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    response.end('{}')
  })
  const origin = await listen(service)
  const [dataDir, workflows, temporary] = [tempFolder(), tempFolder(), tempFolder()]
  writeFileSync(join(workflows, 'tidy.workflow.ts'), CODE(attempt.replaceAll('SERVICE', origin)))
  const store = openDataDir({ dataDir, secretKey: null })
  await store.addEndpoint(planEndpoint({ name: 'main' }, Date.now()))
  const file = { id: ENTRY.id, path: ENTRY.path }
  const body = eventBody(id, type, { service: 'Docs Suite', file, token: 'canary-token' })
  await store.saveDelivery(incoming(id, { body, workflows: ['tidy'], receivedAt: Date.now() }))
  const [claimed] = await store.claimRuns('wrk_1', 1, Date.now())
  if (!claimed) throw new Error('a run was queued')
  for (const [position, step] of steps.entries()) await store.saveCheckpoint(claimed.lease, { ...step, position })
  await store.completeRun(claimed.lease, 'null', Date.now())
  await store.close()
  const env = {
    ...serviceEnv(`${origin}/v1`, 'sk_sandbox_canary'),
    SERVICE_STORAGE_A: 'docs-suite',
    UPSHOT_WORKFLOWS_DIR: workflows,
    CHAT_TOKEN: 'canary-chat',
    TMPDIR: temporary,
  }
  const rehearse = (...args: string[]) => runCli(dataDir, ['rehearse', ...args], { env })
  return { rehearse, requests, dataDir, workflows, temporary }
}

const read = (operation: string, target: string, output: unknown) =>
  checkpoint(`files.${operation}[${target}]`, { effect: 'read', target, output: JSON.stringify(output) })
const GET = read('get', `storage_a:${ENTRY.id}`, { ...ENTRY, service: 'storage_a' })
const LIST = read('list', 'storage_a:/in', { items: [{ ...OTHER, service: 'storage_a' }], total: 1 })

const hashOf = (dataDir: string) => {
  const log = join(dataDir, 'upshot.db-wal')
  expect(existsSync(log) ? statSync(log).size : 0).toBe(0)
  return createHash('sha256')
    .update(readFileSync(join(dataDir, 'upshot.db')))
    .digest('hex')
}

test('an event runs with real effects in a sandbox alone: no request and no row reach production', async () => {
  const { rehearse, requests, dataDir, temporary } = await openProject({ steps: [GET, LIST] })
  const before = hashOf(dataDir)
  const { exit, json, stdout } = await rehearse('evt_1', '--json')
  expect(json.error).toBeUndefined()
  const { data } = json
  expect(data.runs).toMatchObject([{ workflow: 'tidy', status: 'completed', eventType: 'file.created' }])
  expect(data.runs[0].output).toMatchObject({
    outcome: 'deleted',
    size: 3_000_000,
    at: ENTRY.modifiedAt,
    left: [OTHER.id],
    service: 'storage_a',
    token: 'redacted',
    variables: [],
  })
  expect(data.files.before.map(({ path, bytes, id }: Record<string, unknown>) => [path, bytes, id])).toEqual(
    expect.arrayContaining([
      ['/in/a.bin', 3_000_000, ENTRY.id],
      ['/in/b.bin', 7, 'fil_2'],
    ]),
  )
  expect(data.files.gone).toMatchObject([{ path: '/in/a.bin' }])
  expect(data.effects).toContainEqual(expect.objectContaining({ class: 'delete', outcome: 'deleted' }))
  expect(data.effects).toContainEqual(expect.objectContaining({ class: 'write', operation: 'note' }))
  expect(data.skippedMs).toBeGreaterThan(86_000_000)
  expect(data.requests).toContainEqual({ operation: 'files.delete', count: 1, refused: 0 })
  expect([exit, data.isAtRest, data.refused]).toEqual([0, true, []])
  expect(stdout).not.toContain('canary')
  expect(requests).toEqual([])
  expect(hashOf(dataDir)).toEqual(before)
  expect(existsSync(join(dataDir, 'note.txt'))).toBe(false)
  expect(readdirSync(temporary)).toEqual([])
})

test('an event that a step sent is rehearsed, too, though no delivery may have its id', async () => {
  const id = deriveEventId('run_1', 'send')
  const { rehearse } = await openProject({ steps: [GET, LIST], id })
  const { json } = await rehearse(id, '--json')
  expect(json.data).toMatchObject({ event: id, runs: [{ status: 'completed' }] })
}, 60_000)

test('modules that end or block the app as they are loaded are left out of it, and named', async () => {
  const { rehearse, workflows } = await openProject({ steps: [GET, LIST] })
  writeFileSync(join(workflows, 'exits.workflow.ts'), 'process.exit(3)')
  writeFileSync(join(workflows, 'loops.workflow.ts'), BLOCK)
  const { exit, stdout, stderr } = await rehearse('evt_1')
  expect([exit, stdout]).toEqual([0, expect.stringContaining('tidy')])
  expect(stderr).toMatch(/exits\.workflow\.ts cannot be loaded: .*The app of the rehearsal has ended: exit code 3\. At/)
  expect(stderr).toMatch(/loops\.workflow\.ts cannot be loaded: .*no answer within 11000 ms/)
}, 60_000)

test('ordered trouble strikes and is told, and a file has the bytes that a person gives', async () => {
  const { rehearse } = await openProject({ steps: [GET, LIST] })
  const own = join(tempFolder(), 'own.bin')
  writeFileSync(own, 'own bytes')
  const faults = ['--faults', 'files.delete 503 ×2, files.list reset x1', '--faults', 'download cut x1, delivery drop']
  const { json } = await rehearse('evt_1', ...faults, '--bytes', `/in/a.bin=${own}`, '--json')
  expect(json.data.runs[0].output).toMatchObject({
    outcome: 'deleted',
    size: 9,
    sha: createHash('sha256').update('own bytes').digest('hex'),
  })
  expect(json.data.faults).toEqual([
    { order: 'files.delete 503 ×2', struck: 2, times: 2 },
    { order: 'files.list reset x1', struck: 1, times: 1 },
    { order: 'download cut x1', struck: 1, times: 1 },
    { order: 'delivery drop', struck: 1, times: null },
  ])
  expect(json.data.requests).toContainEqual({ operation: 'files.delete', count: 3, refused: 2 })
})

test('what a workflow asks for beyond its sandbox is refused and named', async () => {
  const outside = tempFolder()
  const attempt = `
    const tries = [
      () => fetch('SERVICE/fetched'),
      () => writeFileSync('${outside}/file', 'x'),
      () => import('node:child_process').then(({ execSync }) => execSync('touch ${outside}/child')),
      () => import('node:http').then((http) => new Promise((done, fail) =>
        http.get('SERVICE/got', done).on('error', fail))),
    ]
    const refused = await step.run('try', () => Promise.allSettled(tries.map(async (each) => each())))
    if (refused.some((each) => each.status === 'fulfilled')) throw new Error('not refused')`
  const { rehearse, requests } = await openProject({ attempt })
  const { exit, json } = await rehearse('evt_1', '--json')
  expect(json.data.runs).toMatchObject([{ status: 'completed' }])
  expect(json.data.files.before).toContainEqual({
    storage: 'storage_a',
    id: ENTRY.id,
    path: '/in/a.bin',
    type: 'file',
    bytes: 1_024,
    madeUp: ['size'],
  })
  expect(json.data.refused).toEqual([expect.stringMatching(/^127\.0\.0\.1:\d+$/)])
  expect([exit, requests, readdirSync(outside)]).toEqual([7, [], []])
})

test('a host and a variable are given where the person names them', async () => {
  const tell = `await step.run('told', () => fetch('SERVICE/told').then(() => 1))`
  const attempt = `if (process.env.CHAT_TOKEN !== undefined) ${tell}`
  const { rehearse, requests } = await openProject({ steps: [GET], attempt })
  const { exit, stdout } = await rehearse('evt_1', '--allow-host', '127.0.0.1', '--env', 'CHAT_TOKEN')
  expect([exit, requests]).toEqual([0, ['GET /told']])
  expect(stdout.replaceAll(/ +/g, ' ')).toContain('storage_a /in/a.bin 3.0 MB fil 1/ü')
  expect(stdout).toMatch(/tidy {2}completed {2}on file\.created, run_/)
  expect(stdout).toMatch(/Gone in the end\n.*\n {2}storage_a +\/in\/a\.bin/)
  expect(stdout).toContain('Its clock was set forward by 23 h 59 min')
  expect(stdout).toContain('1 files.delete, 1 files.list.\n')
  const missing = await rehearse('evt_1', '--env', 'NOT_SET')
  expect([missing.exit, missing.stderr]).toEqual([2, expect.stringContaining('no such variable')])
})

test('a run that fails on bytes which are made up is told how to give real ones', async () => {
  const { rehearse } = await openProject({ steps: [GET], attempt: "throw new Error('no columns')" })
  const { exit, stderr } = await rehearse('evt_1')
  expect([exit, stderr]).toEqual([1, expect.stringContaining('--bytes <path>=<file')])
})

test('an event that no workflow runs on leaves with 5, and one that is given up with 1', async () => {
  const { rehearse } = await openProject({ type: 'batch.done' })
  const { exit, stdout } = await rehearse('evt_1')
  expect([exit, stdout]).toEqual([
    5,
    expect.stringMatching(/No workflow runs on this event\.[\s\S]*sandbox: none\. No other host was called/),
  ])
  expect((await rehearse('evt_1', '--within', '30d')).exit).toBe(5)
  const late = await rehearse('evt_1', '--within', '1ms')
  expect([late.exit, late.stdout]).toEqual([1, expect.stringContaining('gave up while work was under way')])
})
