import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { formatAhead } from '../../../../src/cli/commands/safety/approvals/show.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { readDatabase } from '../../../../src/project/config/database-config.ts'
import { openStore } from '../../../../src/project/data-dir/open-store.ts'
import { migratePostgres } from '../../../../src/store/postgres/open-postgres-store.ts'
import { startService } from '../../../e2e/support/served-app.ts'
import { CHILD_ENVIRONMENT } from '../../../support/child-environment.ts'
import { type DatabaseName, silenceWorkers } from '../../../support/databases.ts'
import { eventBody, incoming } from '../../../support/fixtures.ts'
import { postDelivery } from '../../../support/post-delivery.ts'
import { makeSchema } from '../../../support/postgres-store.ts'
import { CLI, DOOR } from '../../../support/program.ts'
import { makeProject, startIn } from '../../../support/start-process.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { startTestApp } from '../../../support/test-app.ts'
import { NO_SERVICE_VARIABLES, WEBHOOK_SECRET } from '../../../support/test-config.ts'
import { runHere } from '../../support/run-here.ts'

const codeOf = (order: readonly number[]) => `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'tidy', on: 'batch.done', guard: { deletes: { perRun: 2 } },
run: async ({ files, step }) => {
  const { items } = await files.snapshot({ service: 'storage_a', path: '/in' })
  for (const at of ${JSON.stringify(order)}) await files.delete(items[at])
  await step.run('note', () => 1, { target: 'notes' })
  await step.run('never known', () => 2)
} })`

/** Where a command works, on which database, and whether a registered approver signs. */
interface Manner {
  database: DatabaseName
  door: 'beside the database' | 'at a server'
  isSigned: boolean
}
const PLAIN: Manner = { database: 'SQLite', door: 'beside the database', isSigned: false }
/** Each pair of them once. */
const MANNERS: Manner[] = [
  PLAIN,
  { database: 'SQLite', door: 'at a server', isSigned: true },
  { database: 'PostgreSQL', door: 'beside the database', isSigned: true },
  { database: 'PostgreSQL', door: 'at a server', isSigned: false },
]

/** The database of a test, as the app, a store and a process have it. */
async function placeOf(name: DatabaseName) {
  if (name === 'SQLite') return { config: {}, env: {}, silence: async () => {} }
  const { url, schema } = makeSchema()
  await migratePostgres({ hosts: [{ connectionString: url }], schema, vaultKey: randomBytes(32) })
  const env = { UPSHOT_DATABASE_URL: `${url}?schema=${schema}`, UPSHOT_SECRET_KEY: randomBytes(32).toString('base64') }
  const database = readDatabase(env as never, env, [])
  const config = { database, secretKey: env.UPSHOT_SECRET_KEY }
  return { config, env, silence: () => silenceWorkers({ url, schema }) }
}

const findHeld = async (store: Store, run: string) => {
  await expect
    .poll(() => store.findRun(run), { timeout: 60_000 })
    .toMatchObject({ status: 'waiting', reason: expect.stringContaining('waits for approval') })
  const [approval] = await store.listApprovals({ status: 'open', limit: 1, now: Date.now() })
  return { id: approval?.id ?? '', hash: approval?.hash ?? '' }
}

/** A run that is held at its third delete. `order`: of its deletes, unlike the code on disk. */
async function openTidy({ database, door, isSigned }: Manner = PLAIN, order = [0, 1, 2, 3, 4]) {
  const folder = tempFolder()
  const module = join(folder, 'tidy.workflow.js')
  writeFileSync(module, codeOf(order))
  const workflows = [(await import(pathToFileURL(module).href)).default]
  const { config, env } = await placeOf(database)
  const { dataDir, sandbox, urls } = await startTestApp({ workflows }, { config: { workflowsDir: folder, ...config } })
  writeFileSync(module, codeOf(order.toSorted((one, other) => one - other)))
  const storage = sandbox.storage('storage_a')
  for (const name of 'abcdefghijklmnopqrstuvwxyz'.slice(0, order.length)) await storage.put(`/in/${name}.txt`, 'bytes')
  const store = await openStore({ dataDir, secretKey: null, ...config })
  onTestFinished(() => store.close())
  const body = eventBody('evt_1', 'batch.done', {})
  const { runs } = await store.saveDelivery(incoming('evt_1', { body, workflows: ['tidy'] }))
  const run = runs[0] ?? ''
  const { id, hash } = await findHeld(store, run)
  const near = { UPSHOT_WORKFLOWS_DIR: folder, ...env }
  const far = { ...near, UPSHOT_SERVER: urls.admin, UPSHOT_TOKEN_FILE: join(folder, 'token') }
  const here = (...args: string[]) => runHere(dataDir, args, { env: near })
  const tokens = new Map<string, string>()
  for (const role of ['viewer', 'operator']) {
    const { json } = await here('tokens', 'add', `laptop-${role}`, '--role', role, '--json')
    tokens.set(role, json.data.secret)
  }
  const setRole = (role: 'viewer' | 'operator') => writeFileSync(far.UPSHOT_TOKEN_FILE, tokens.get(role) ?? '')
  setRole('operator')
  const upshot = (...args: string[]) =>
    door === 'at a server' ? runHere(tempFolder(), args, { env: far }) : here(...args)
  const word: string[] = []
  if (isSigned) {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    writeFileSync(join(folder, 'anna.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
    writeFileSync(join(folder, 'anna.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
    await here('approvers', 'add', 'anna', '--key', join(folder, 'anna.pub'))
    word.push('--as', 'anna', '--key-file', join(folder, 'anna.key'))
  }
  const approve = (...args: string[]) => upshot('approvals', 'approve', id, '--hash', hash, ...word, ...args)
  const paths = () => storage.list().map(({ path }) => path)
  return { store, sandbox, storage, paths, upshot, approve, setRole, id, hash, run }
}

test('"approvals show --ahead" tells what a held run would still ask for, and does nothing', async () => {
  const { store, storage, upshot, id, run } = await openTidy()
  const before = { steps: await store.listSteps(run), effects: await store.listEffects({ limit: 99 }) }
  const show = (...args: string[]) => upshot('approvals', 'show', id, '--ahead', ...args)
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

test.for(MANNERS)('each list that was foreseen is approved as it comes, and no other: %o', async (manner) => {
  const { store, paths, approve, setRole, id, run } = await openTidy(manner)
  const words = ['--ahead', '2', '--ahead-size', '8 B', '--reason', 'the copies are proven']
  const { json: unbounded } = await approve('--ahead-size', '8 B', '--json')
  expect(unbounded.error).toMatchObject({ message: '--ahead-size bounds --ahead.' })
  if (manner.door === 'at a server') {
    setRole('viewer')
    expect((await approve(...words, '--yes', '--json')).json.error).toMatchObject({ code: 'forbidden' })
    setRole('operator')
  }
  const unconfirmed = await approve(...words)
  expect(unconfirmed).toMatchObject({ exit: 3 })
  // Both would be 10 bytes.
  expect(unconfirmed.stderr).toContain(
    'This will approve 1 more, 5 B, as its runs ask for them.\n  delete  /in/d.txt  5 B\n',
  )
  expect((await store.findApproval(id, Date.now()))?.status).toBe('open')
  const { json } = await approve(...words, '--yes', '--json')
  expect(json.error).toBeUndefined()
  expect(json.data).toMatchObject({ approval: id, granted: 1, ahead: { approved: 1, stopped: null, held: null } })
  await findHeld(store, run)
  expect(paths()).not.toContain('/in/d.txt')
  expect(paths()).toContain('/in/e.txt')
  const lists = [...json.data.ahead.approvals, id]
  const rows = await store.listActions({ action: 'approval.approve', limit: 9 })
  expect(rows.map(({ target, reason }) => [target, reason])).toEqual(
    lists.map((each) => [each, 'the copies are proven']),
  )
  const { isSigned } = manner
  for (const list of lists) {
    expect((await store.findApproval(list, Date.now()))?.votes).toMatchObject([
      { verdict: 'approved', isSigned, ...(isSigned && { actor: 'anna' }) },
    ])
  }
})

test('"approvals show --ahead" names the first 50 effects, and says how many more there are', async () => {
  const foreseen = (effects: number) => ({
    runs: 1,
    ahead: [
      {
        run: 'run_1',
        effects,
        bytes: 0,
        list: Array.from({ length: Math.min(effects, 200) }, (_, index) => ({
          class: 'delete' as const,
          step: `remove ${index}`,
          target: null,
          path: `/in/${index}`,
          bytes: 0,
          isFolder: false,
        })),
        end: { kind: 'completed' as const, step: null, reason: null },
      },
    ],
  })
  const shown = (effects: number) =>
    formatAhead(foreseen(effects), { paint: (_, text) => text, width: null }).join('\n')
  expect(shown(50)).toContain('would ask for 50 more')
  expect(shown(50)).not.toContain('… and')
  expect(shown(300)).toMatch(/ \/in\/49 .*\n {2}… and 250 more: add --json\n/)
})

test('all that would be approved ahead is shown first', async () => {
  const { approve } = await openTidy(PLAIN, [...Array(26).keys()])
  const { stderr } = await approve('--ahead', '200')
  expect(stderr).toContain('This will approve 24 more, 115 B, as its runs ask for them.')
  const shown = [...'defghijklmnopqrstuvwxyz'].map((name) => `delete  /in/${name}.txt  5 B`)
  expect(stderr).toContain([...shown, 'write  notes'].map((line) => `  ${line}\n`).join(''))
})

test('Ctrl-C during the look ahead ends the command, and approves nothing', async () => {
  const { store, approve, id } = await openTidy()
  const before = process.listenerCount('SIGINT')
  const approving = approve('--ahead', '3', '--yes', '--json')
  await expect.poll(() => process.listenerCount('SIGINT'), { interval: 5 }).toBe(before + 1)
  process.emit('SIGINT')
  expect(await approving).toMatchObject({ exit: 130, json: { error: { code: 'aborted' } } })
  expect((await store.findApproval(id, Date.now()))?.status).toBe('open')
})

test('Ctrl-C while lists are approved as they come ends with 130, and says what was done', async () => {
  const { sandbox, approve } = await openTidy()
  // The app looks at a file before it deletes it, so that its next list comes late.
  await sandbox.faults.add({ on: 'files.get', skip: 3, latencyMs: 5_000 })
  const approving = approve('--ahead', '3', '--yes')
  await expect.poll(() => sandbox.faults.list()[0]?.struck).toBe(1)
  process.emit('SIGINT')
  expect(await approving).toMatchObject({ exit: 130, stdout: 'Approved 0 more of what was foreseen.\n' })
})

test('a list with something that was not foreseen stays open, and is named', async () => {
  const { store, paths, approve, run } = await openTidy(PLAIN, [0, 1, 2, 4, 3])
  const { json } = await approve('--ahead', '1', '--yes', '--json')
  const { id: held } = await findHeld(store, run)
  const stopped = `Approval ${held} asks for /in/e.txt, which the look ahead did not show so.`
  expect(json.data.ahead).toEqual({ approved: 0, approvals: [], stopped, held })
  expect(paths().filter((path) => path.startsWith('/in/'))).toEqual(['/in/d.txt', '/in/e.txt'])
})

test.for([
  { database: 'SQLite', door: 'beside the database' },
  { database: 'PostgreSQL', door: 'at a server' },
] as const)('a command and an app that are killed approve nothing more, and a repeat goes on: %o', async (manner) => {
  const { database, door } = manner
  const root = makeProject({ 'tidy.workflow.js': codeOf([0, 1, 2, 3, 4, 5]) })
  const dataDir = join(root, 'data')
  const { config, env: place, silence } = await placeOf(database)
  const { sandbox, service } = await startService()
  const storage = sandbox.storage('storage_a')
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await storage.put(`/in/${name}.txt`, 'bytes')
  const left = () => storage.list().flatMap(({ path }) => /^\/in\/(.)\.txt$/.exec(path)?.[1] ?? [])
  const access = { SERVICE_BASE_URL: service.baseUrl, SERVICE_API_KEY: service.apiKey, SERVICE_STORAGE_A: 'storage_a' }
  const env = { ...NO_SERVICE_VARIABLES, ...access, ...place }
  const start = async () => {
    const app = startIn(root, env)
    const { urls } = await app.line(({ message }) => message === 'started')
    return { ...app, urls: urls as Record<string, string> }
  }
  let app = await start()
  const store = await openStore({ dataDir, secretKey: null, ...config })
  onTestFinished(() => store.close())
  await postDelivery(app.urls['endpoint service'] ?? '', WEBHOOK_SECRET, 'evt_1', {}, 'batch.done')
  const [{ id: run } = { id: '' }] = await store.listRuns({ limit: 1 })
  /** The command in a process; `whenApproved` is called as it has approved its own list. */
  const approve = async (ahead: string[], whenApproved = (_command: ChildProcess) => {}) => {
    const { id, hash } = await findHeld(store, run)
    const server = { UPSHOT_SERVER: app.urls.admin ?? '', UPSHOT_TOKEN_FILE: join(dataDir, 'admin.token') }
    const command = spawn(process.execPath, [CLI, 'approvals', 'approve', id, ...ahead, '--hash', hash, '--yes'], {
      cwd: root,
      env: { ...CHILD_ENVIRONMENT, ...env, ...(door === 'at a server' && server) },
    })
    createInterface({ input: command.stderr }).on('line', (line) => {
      if (line.startsWith('Approved 1 item')) whenApproved(command)
    })
    const [stdout, stderr, [code, signal]] = await Promise.all([
      text(command.stdout),
      text(command.stderr),
      once(command, 'close'),
    ])
    return { end: code ?? signal, stdout, stderr }
  }

  expect(await approve(['--ahead', '3'], (command) => command.kill('SIGKILL'))).toMatchObject({
    end: 'SIGKILL',
    stdout: '',
  })
  await expect.poll(left).toEqual(['d', 'e', 'f'])
  const unseen = await findHeld(store, run)

  // The list ahead is asked for by the next process of the app, if anybody still waits for it.
  const killed = app
  const approving = approve(['--ahead', '1'], () => killed.child.kill('SIGKILL'))
  await killed.exited
  await silence()
  app = await start()
  const { end, stdout, stderr } = await approving
  const held = await findHeld(store, run)
  expect(held.id).not.toBe(unseen.id)
  if (door === 'at a server') {
    expect({ end, stderr }).toEqual({ end: 6, stderr: expect.stringContaining('cannot be reached') })
    expect(left()).toEqual(['e', 'f'])
    expect(await approve([])).toMatchObject({ end: 0, stdout: 'Approved 1 item.\n' })
  } else {
    expect({ end, stdout }).toEqual({ end: 0, stdout: 'Approved 1 more of what was foreseen.\n' })
  }
  await expect.poll(left).toEqual(['f'])
  await findHeld(store, run)
  expect(left()).toEqual(['f'])
  const deleted = await store.listEffects({ phases: ['ended'], limit: 99 })
  expect(deleted.map(({ path }) => path).toSorted()).toEqual(['a', 'b', 'c', 'd', 'e'].map((name) => `/in/${name}.txt`))
})
