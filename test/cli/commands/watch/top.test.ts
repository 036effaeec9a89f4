import { userInfo } from 'node:os'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { runCommandLine } from '../../../../src/cli/run-command-line.ts'
import { runHere } from '../../support/run-here.ts'
import { failRun, openTestProject, statusOf } from '../../support/test-project.ts'

/** A terminal of 100 columns; `screen` is what it shows, without styles. */
function openTerminal() {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} })
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 100, rows: 24 })
  let written = ''
  stdout.on('data', (chunk) => {
    written += chunk
  })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal is told by control sequences.
  const plain = () => written.replace(/\u001B\[[\d;?]*[a-zA-Z]/g, '')
  const lastFrame = () =>
    plain().slice(plain().lastIndexOf('upshot 0.1.0') === -1 ? plain().lastIndexOf('upshot ') : -3_000)
  return { streams: { stdin, stdout, stderr: new PassThrough() }, stdin, written: () => written, lastFrame }
}

test('"top --json" prints the load and what needs a person', async () => {
  const { cli, store } = await openTestProject()
  const run = await failRun(store, 'evt_1')
  await failRun(store, 'evt_2')
  expect((await cli('top')).json).toMatchObject({
    data: {
      windowMs: 600_000,
      runs: { openFailures: 2, pending: 0 },
      received: { refused: 0, isMore: false },
      workflows: [{ workflow: 'follow-up', perMinute: 0.2, failed: 1 }],
      forPerson: [{ status: 'failed' }, { id: run, workflow: 'follow-up', why: 'b: no luck' }],
      processes: [],
    },
  })
})

test('"top --once" prints a frame whose lines fit', async () => {
  const { dataDir, store } = await openTestProject()
  await failRun(store, 'evt_1')
  const { stdout } = await runHere(dataDir, ['top', '--once'])
  expect(stdout).toMatch(/no process runs/)
  expect(stdout).toMatch(/WORKFLOW +RUNS\/MIN +FAILED/)
  expect(stdout).toMatch(/✗ follow-up +run_\w{13} .* b: no luck/)
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120)
})

test('keys of "top" choose a run, retry it after a question, and leave an audit row', async () => {
  const { dataDir, store } = await openTestProject()
  const run = await failRun(store, 'evt_1')
  const terminal = openTerminal()
  vi.stubEnv('UPSHOT_DATA_DIR', dataDir)
  onTestFinished(() => void vi.unstubAllEnvs())
  const ended = runCommandLine(['top'], terminal.streams)
  const shows = (text: string | RegExp) => vi.waitFor(() => expect(terminal.lastFrame()).toMatch(text), 10_000)
  await shows(/NEEDS YOU/)
  terminal.stdin.write('r')
  await shows(/Choose a run/)
  terminal.stdin.write('\u001B[B')
  await shows(/› +✗ follow-up/)
  terminal.stdin.write('r')
  await shows(new RegExp(`Retry ${run} of follow-up\\?`))
  terminal.stdin.write('n')
  await shows(/↑↓ choose/)
  expect(await statusOf(store, run)).toBe('failed')
  terminal.stdin.write('ry')
  await shows(/is tried again/)
  expect(await statusOf(store, run)).toBe('pending')
  expect(await store.listActions({ limit: 1 })).toMatchObject([
    { action: 'run.retry', target: run, actor: `cli:${userInfo().username}` },
  ])
  terminal.stdin.write('q')
  expect(await ended).toBe(0)
  expect(terminal.written()).toMatch(/\?1049l$/)
})

test('the filter of "top" keeps the workflows whose names contain it', async () => {
  const { dataDir, store } = await openTestProject()
  await failRun(store, 'evt_1')
  const terminal = openTerminal()
  vi.stubEnv('UPSHOT_DATA_DIR', dataDir)
  onTestFinished(() => void vi.unstubAllEnvs())
  const ended = runCommandLine(['top'], terminal.streams)
  const shows = (text: string | RegExp) => vi.waitFor(() => expect(terminal.lastFrame()).toMatch(text), 10_000)
  await shows(/✗ follow-up/)
  terminal.stdin.write('/night')
  await shows(/Nothing needs you/)
  terminal.stdin.write('\u001B')
  await shows(/✗ follow-up/)
  terminal.stdin.write('q')
  await ended
})
