import { userInfo } from 'node:os'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { drawView } from '../../../../src/cli/commands/watch/top/draw-frame.ts'
import type { Frame } from '../../../../src/cli/commands/watch/top/read-frame.ts'
import { TopKeys } from '../../../../src/cli/commands/watch/top/top.ts'
import { runCommandLine } from '../../../../src/cli/run-command-line.ts'
import { widthOf } from '../../../../src/cli/terminal/table.ts'
import { hashSecret } from '../../../../src/core/access/token.ts'
import { isoTime } from '../../../../src/core/time.ts'
import { runHere } from '../../support/run-here.ts'
import { failRun, openTestProject, statusOf } from '../../support/test-project.ts'

const NOW = Date.UTC(2026, 4, 1, 12)

const PROCESS = {
  ...{ id: 'wrk_1', role: 'all', pid: 1, version: '0.1.0' },
  ...{ adminUrl: 'http://127.0.0.1:4701', receiverUrl: '', broken: [] },
}

/** A terminal of 24 rows; `lastFrame` is what it shows, without styles. */
function openTerminal(columns = 100) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} })
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns, rows: 24 })
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
      overview: { failed: { count: 2 }, pending: { count: 0 }, received: { refused: 0 } },
      workflows: [{ workflow: 'follow-up', runs: 2, perMinute: null, failed: 1 }],
      forPerson: [{ status: 'failed' }, { id: run, workflow: 'follow-up', error: { message: 'no luck' } }],
      system: { processes: [] },
    },
  })
})

test('"top --once" prints a frame whose lines fit', async () => {
  const { dataDir, store } = await openTestProject()
  await failRun(store, 'evt_1')
  const { stdout } = await runHere(dataDir, ['top', '--once'])
  expect(stdout).toMatch(/no process runs/)
  expect(stdout).toMatch(/WORKFLOW +RUNS\/H +\/MIN +FAILED/)
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

test('"top" shows the story of the chosen run, and a link to the dashboard, and goes back', async () => {
  const { dataDir, store } = await openTestProject()
  const run = await failRun(store, 'evt_1')
  await store.beatProcess({ ...PROCESS, startedAt: Date.now(), seenAt: Date.now() })
  const terminal = openTerminal(60)
  vi.stubEnv('UPSHOT_DATA_DIR', dataDir)
  onTestFinished(() => void vi.unstubAllEnvs())
  const ended = runCommandLine(['top'], terminal.streams)
  const shows = (text: string | RegExp) => vi.waitFor(() => expect(terminal.lastFrame()).toMatch(text), 10_000)
  await shows(/✗ follow-up/)
  terminal.stdin.write('\u001B[B')
  await shows(/› +✗ follow-up/)
  terminal.stdin.write('\r')
  await shows(new RegExp(`\n${run}\r\n +status +failed`))
  await shows(/⏎ back {2}r retry/)
  terminal.stdin.write('r')
  await shows(new RegExp(`Retry ${run} of`))
  terminal.stdin.write('n')
  await shows(/⏎ back/)
  terminal.stdin.write('\r')
  await shows(/NEEDS YOU[\s\S]*↑↓ choose/)
  terminal.stdin.write('w')
  await shows(/login#/)
  const [link = ''] =
    terminal
      .lastFrame()
      .replaceAll('\r\n', '')
      .match(/http:\/\/127\.0\.0\.1:4701\/login#\w+/) ?? []
  const used = await store.findLoginCode(hashSecret(link.split('#')[1] ?? ''), Date.now())
  expect(used).toMatchObject({ role: 'admin' })
  terminal.stdin.write('q')
  await ended
})

test('no line of "top" is wider than a terminal of 80 columns, and no column moves as time goes by', () => {
  const wide = { workflow: 'w'.repeat(60), runs: 9_999, perMinute: 1_234, failed: 1 }
  const many = { count: 1_000, isMore: true }
  const frameAt = (ageMs: number, p95Ms: number) =>
    ({
      at: NOW,
      system: {
        ...{ databaseBytes: 4_300_000_000, logBytes: 3_000_000 },
        processes: [{ ...PROCESS, startedAt: isoTime(NOW - ageMs), isSilent: false }],
        room: { tables: [{ table: 't'.repeat(80), bytes: 9 }], weeks: [] },
      },
      overview: {
        ...{ failed: many, forPerson: many, pending: many, running: many, oldestPendingAt: isoTime(NOW - ageMs) },
        ...{ approvals: { open: 12, effects: 1 }, alerts: { open: 3, newest: null }, stops: 1 },
        received: { accepted: 1_000, duplicate: 12, conflict: 1, refused: 345 },
        hours: [{ at: isoTime(NOW), runs: 3 }],
      },
      workflows: [{ ...wide, p50Ms: 7, p95Ms }],
      atWork: [
        {
          ...{ id: 'run_2', workflow: 'm'.repeat(60) },
          progress: { done: ageMs, total: 1e9, failed: 3, note: 'n'.repeat(60), rate: 12 },
        },
      ],
      forPerson: [
        {
          ...{ id: 'run_1', workflow: 'v'.repeat(60), status: 'failed', createdAt: isoTime(NOW - ageMs) },
          error: { name: 'Error', message: 'x'.repeat(99) },
        },
      ],
    }) as unknown as Frame
  const screen = { paint: (_style: unknown, text: string) => text, width: 80, height: 24 }
  const view = { chosen: 0, note: new TopKeys({} as never, {} as never).view(frameAt(0, 0)).note, panel: null }
  const [young, old] = [frameAt(9_000, 38), frameAt(4 * 86_400_000, 80_000_000)].map((frame) =>
    drawView(frame, view, screen),
  )
  for (const line of [...(young ?? []), ...(old ?? [])]) expect(widthOf(line)).toBeLessThanOrEqual(80)
  expect(young?.at(-1)).toMatch(/^↑↓ choose .* q leave$/)
  const titlesOf = (lines: string[] = []) => lines.filter((line) => /WORKFLOW|NEEDS YOU|PROGRESS/.test(line))
  expect(titlesOf(young)).toHaveLength(3)
  expect(titlesOf(old)).toEqual(titlesOf(young))
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
