import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startSandbox } from '../../src/sandbox/index.ts'
import { CHILD_ENVIRONMENT } from '../support/child-environment.ts'
import { queueRun } from '../support/fixtures.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { startTestApp } from '../support/test-app.ts'
import { runCli } from './support/run-cli.ts'
import { serviceEnv } from './support/service-env.ts'
import { failRun, openTestProject } from './support/test-project.ts'

// The real process, for its signals, exit codes and standard input.
vi.setConfig({ testTimeout: 120_000 })

const MAIN = resolve(import.meta.dirname, '../../src/cli/main.js')

test('trigger stops at Ctrl-C between two events, with exit 130', async () => {
  const { dataDir, hear } = await startTestApp()
  const interruptAt = hear('delivery.received', ({ type }) => type === 'order.placed')
  const { exit, json } = await runCli(dataDir, ['trigger', 'order.placed', '--count', '10000', '--json'], {
    interruptAt,
  })
  expect({ exit, json }).toMatchObject({ exit: 130, json: { ok: false, error: { code: 'aborted' } } })
})

test('files get exits with 130 at Ctrl-C, and the next call continues the download', async () => {
  const text = 'x'.repeat(400_000)
  const { dataDir, sandbox } = await startTestApp()
  await sandbox.storage('storage_c').put('/big.txt', text)
  const to = join(tempFolder(), 'big.txt')
  await sandbox.faults.add({ on: 'download', stallAfterBytes: 200_000 })
  const args = ['files', 'get', 'storage_c:/big.txt', '-o', to, '--json']
  const interruptAt = until(() => existsSync(`${to}.part`) && statSync(`${to}.part`).size > 0)
  const broken = await runCli(dataDir, args, { interruptAt })
  expect(broken).toMatchObject({ exit: 130, json: { ok: false, error: { code: 'aborted' } } })
  expect(existsSync(to)).toBe(false)
  await sandbox.faults.clear()
  const { json } = await runCli(dataDir, args)
  expect(json.data.resumedFrom).toBeGreaterThan(0)
  expect(readFileSync(to, 'utf8')).toBe(text)
})

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
}

test.each(['runs', 'events'])(
  '%s tail prints one JSON document per line until Ctrl-C, and exits with 0',
  async (group) => {
    const { dataDir, store } = await openTestProject()
    const before = group === 'events' ? ['evt_before', 'evt_just_before'] : []
    for (const id of [...before, 'evt_0']) await queueRun(store, id, 'count', Date.now())
    const child = spawn(process.execPath, [MAIN, group, 'tail', '--json', '--last', '1'], {
      env: { ...CHILD_ENVIRONMENT, UPSHOT_DATA_DIR: dataDir },
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const exited = once(child, 'exit')
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const next = async () => JSON.parse((await lines.next()).value ?? 'null')
    const idOf = (row: { id: string; eventId?: string }) => (group === 'runs' ? row.eventId : row.id)
    expect(idOf(await next())).toBe('evt_0')
    await queueRun(store, 'evt_1', 'count', Date.now())
    expect(idOf(await next())).toBe('evt_1')
    if (group === 'runs') {
      const [run] = await store.claimRuns('wrk_1', 1, Date.now())
      expect(await next()).toMatchObject({ id: run?.lease.runId, status: 'running', eventId: 'evt_0' })
      await store.cancelRun(run?.lease.runId ?? '', 'by hand', Date.now())
      expect(await next()).toMatchObject({ id: run?.lease.runId, status: 'canceled', reason: 'by hand' })
    }
    child.kill('SIGINT')
    expect(await exited).toEqual([0, null])
    expect(await lines.next()).toMatchObject({ done: true })
  },
)

test('runs cancel reads ids from standard input, and exits with 1 if one is refused', async () => {
  const { dataDir, store } = await openTestProject()
  const failed = await failRun(store, 'evt_1')
  const pending = await queueRun(store, 'evt_2', 'count', Date.now())
  const result = await runCli(dataDir, ['runs', 'cancel', '-', '--json'], { input: `${failed}\n${pending}\n` })
  expect(result).toMatchObject({ exit: 1, json: { data: { done: 1, refused: 1 } } })
  expect(result.json.data.runs).toContainEqual({
    run: failed,
    workflow: null,
    done: false,
    why: expect.stringContaining('it is failed already'),
  })
})

test('endpoints add refuses a secret on standard input that is too short, with exit 2', async () => {
  const args = ['endpoints', 'add', 'shop', '--secret-stdin', '--json']
  const result = await runCli(tempFolder(), args, { input: 'short' })
  expect(result).toMatchObject({ exit: 2, stderr: '', json: { ok: false, error: { code: 'invalid_request' } } })
})

test('start is rehearsed against a sandbox that runs alone, and only when asked', async () => {
  const sandbox = await startSandbox({ dir: tempFolder(), port: 0 })
  onTestFinished(() => sandbox.stop())
  const { key } = await sandbox.keys.create({ name: 'rehearsal', scope: 'read-write' })
  const env = { ...serviceEnv(sandbox.url, key), UPSHOT_ADMIN_PORT: '0' }
  const refused = await runCli(tempFolder(), ['start'], { env })
  expect(refused).toMatchObject({ exit: 2, stderr: expect.stringContaining('upshot start --rehearse') })
  const child = spawn(process.execPath, [MAIN, 'start', '--rehearse'], {
    cwd: resolve(import.meta.dirname, '../..'),
    env: { ...CHILD_ENVIRONMENT, ...env, UPSHOT_DATA_DIR: tempFolder(), UPSHOT_PORT: '0' },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  for await (const line of createInterface(child.stdout)) if (JSON.parse(line).message === 'started') break
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
})

test('a command whose reader closes the pipe early ends in order, with its own exit code', async () => {
  const { store, dataDir } = await openTestProject()
  for (let n = 0; n < 40; n++) await queueRun(store, `evt_${n}`)
  const run = (args: string, closes: 'at once' | 'after a part') => runCli(dataDir, args.split(' '), { closes })
  expect(await run('runs list --limit 40 --json', 'at once')).toMatchObject({ exit: 0, stderr: '' })
  expect(await run('coverage --json', 'at once')).toMatchObject({ exit: 8, stderr: '' })
  expect(await run('effects export', 'at once')).toMatchObject({ exit: 0 })
  // A command hears of the closed pipe as it writes, so that there have to be further runs.
  const tail = run('runs tail --json', 'after a part')
  const isOver = tail.then(() => true)
  const queue = (n: number) => queueRun(store, `evt_${n}`).then(() => false)
  for (let n = 40; !(await Promise.race([isOver, queue(n)])); n++);
  expect(await tail).toMatchObject({ exit: 0, stderr: '' })
})

test.skipIf(process.platform !== 'linux')(
  'a full disk behind the output is told in a sentence, with exit 1',
  async () => {
    const { dataDir } = await openTestProject()
    const run = async (args: string[], full: 'stdout' | 'stderr') => {
      const fd = openSync('/dev/full', 'w')
      onTestFinished(() => closeSync(fd))
      const env = { ...CHILD_ENVIRONMENT, UPSHOT_DATA_DIR: dataDir }
      const child = spawn(process.execPath, [MAIN, ...args], {
        env,
        stdio: ['ignore', full === 'stdout' ? fd : 'pipe', full === 'stderr' ? fd : 'pipe'],
      })
      const told = child.stderr === null ? '' : text(child.stderr)
      const [exit] = await once(child, 'exit')
      return [exit, await told]
    }
    const lost = [1, expect.stringMatching(/^error: The output could not be written: ENOSPC[^\n]*\n {2}fix: [^\n]*\n$/)]
    expect(await run(['runs', 'list', '--json'], 'stdout')).toEqual(lost)
    expect(await run(['--help'], 'stdout')).toEqual(lost)
    expect(await run(['runs', 'list', '--nope'], 'stderr')).toEqual([2, ''])
  },
)
