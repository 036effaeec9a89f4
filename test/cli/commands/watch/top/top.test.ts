import { PassThrough } from 'node:stream'
import { expect, onTestFinished, vi } from 'vitest'
import type { Frame } from '../../../../../src/cli/commands/watch/top/read-frame.ts'
import { drawFrame } from '../../../../../src/cli/commands/watch/top/top.ts'
import { runCommandLine } from '../../../../../src/cli/run-command-line.ts'
import { HOUR_MS } from '../../../../../src/core/store/run-hour.ts'
import { isoTime } from '../../../../../src/core/time.ts'
import { columnsOf } from '../../../../../src/notices/log/fit-text.ts'
import { failRun, test } from '../../../support/test-project.ts'

const NOW = Date.UTC(2026, 4, 1, 12)

const PROCESS = {
  id: 'wrk_1',
  role: 'all',
  pid: 1,
  version: '0.1.0',
  adminUrl: 'http://127.0.0.1:4701',
  receiverUrl: '',
  broken: [],
}

/** A terminal of 24 rows; `lastFrame` is what it shows, without styles. */
function openTerminal() {
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 100, rows: 24 })
  let written = ''
  stdout.on('data', (chunk) => {
    written += chunk
  })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal is told by control sequences.
  const plain = () => written.replace(/\u001B\[[\d;?]*[a-zA-Z]/g, '')
  const lastFrame = () => plain().slice(plain().lastIndexOf('NEEDS YOU') - 1_500)
  return { streams: { stdout, stderr: new PassThrough() }, written: () => written, lastFrame }
}

test('"top --json" prints the load and what needs a person', async ({ cli, store }) => {
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

test('"top" tells the times of the newest hour that is counted', async ({ cli, store }) => {
  await failRun(store, 'evt_1')
  const hour = Math.floor(Date.now() / HOUR_MS) - 1
  const counted = { hour, workflow: 'follow-up', status: 'completed', runs: 4, p50Ms: 12, p95Ms: 30 } as const
  await store.saveHour({ hour, version: 0, counted: null }, { runs: [counted], deliveries: [] })
  expect((await cli('top')).json).toMatchObject({ data: { workflows: [{ runs: 1, p50Ms: 12, p95Ms: 30 }] } })
})

test('"top" draws each second what has changed, and gives the terminal back at Ctrl-C', async ({ dataDir, store }) => {
  await failRun(store, 'evt_1')
  const terminal = openTerminal()
  vi.stubEnv('UPSHOT_DATA_DIR', dataDir)
  onTestFinished(() => void vi.unstubAllEnvs())
  const ended = runCommandLine(['top'], terminal.streams)
  const shows = (text: string | RegExp) => vi.waitFor(() => expect(terminal.lastFrame()).toMatch(text), 10_000)
  await shows(/follow-up +1 .*NEEDS YOU.*✗ follow-up/s)
  await failRun(store, 'evt_2')
  await shows(/follow-up +2 /)
  process.emit('SIGINT')
  expect(await ended).toBe(0)
  expect(terminal.written()).toMatch(/\?1049l$/)
})

test('no line of "top" is wider than a terminal of 80 columns, and no column moves as time goes by', () => {
  const wide = { workflow: 'w'.repeat(60), runs: 9_999, perMinute: 1_234, failed: 1 }
  const many = { count: 1_000, isMore: true }
  const frameAt = (ageMs: number, p95Ms: number) =>
    ({
      at: NOW,
      system: {
        databaseBytes: 4_300_000_000,
        logBytes: 3_000_000,
        processes: [{ ...PROCESS, startedAt: isoTime(NOW - ageMs), isSilent: false }],
        room: { tables: [{ table: 't'.repeat(80), bytes: 9 }], weeks: [] },
      },
      overview: {
        failed: many,
        forPerson: many,
        pending: many,
        running: many,
        oldestPendingAt: isoTime(NOW - ageMs),
        approvals: { open: 12, effects: 1 },
        alerts: { open: 3, newest: null },
        stops: 1,
        received: { accepted: 1_000, duplicate: 12, conflict: 1, refused: 345 },
        hours: [{ at: isoTime(NOW), runs: 3 }],
      },
      workflows: [{ ...wide, p50Ms: 7, p95Ms }],
      atWork: [
        {
          id: 'run_2',
          workflow: 'm'.repeat(60),
          progress: { done: ageMs, total: 1e9, failed: 3, note: 'n'.repeat(60), rate: 12 },
        },
      ],
      forPerson: [
        {
          id: 'run_1',
          workflow: 'v'.repeat(60),
          status: 'failed',
          createdAt: isoTime(NOW - ageMs),
          error: { name: 'Error', message: 'x'.repeat(99) },
        },
      ],
    }) as unknown as Frame
  const screen = { paint: (_style: unknown, text: string) => text, width: 80, height: 24 }
  const [young, old] = [frameAt(9_000, 38), frameAt(4 * 86_400_000, 80_000_000)].map((frame) =>
    drawFrame(frame, screen),
  )
  for (const line of [...(young ?? []), ...(old ?? [])]) expect(columnsOf(line)).toBeLessThanOrEqual(80)
  const titlesOf = (lines: string[] = []) => lines.filter((line) => /WORKFLOW|NEEDS YOU|PROGRESS/.test(line))
  expect(titlesOf(young)).toHaveLength(3)
  expect(titlesOf(old)).toEqual(titlesOf(young))
})
