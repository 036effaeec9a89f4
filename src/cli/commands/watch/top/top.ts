import type { Command } from '@commander-js/extra-typings'
import { summarizeFailure } from '../../../../core/runs/failure-group.ts'
import { waitUntil } from '../../../../core/time.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../command-clock.ts'
import { formatAge, formatBytes, formatText } from '../../../terminal/format-value.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'
import type { Output } from '../../../terminal/output.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'
import { describeProgress, drawBar } from '../../runs/run-view.ts'
import { type Frame, Frames, type WorkflowLoad } from './read-frame.ts'

const FRAME_MS = 1_000
/** A screen of its own without a cursor, and the terminal as it was. */
const ENTER = '\u001B[?1049h\u001B[?25l'
const LEAVE = '\u001B[?25h\u001B[?1049l'
const HOME = '\u001B[H'
const CLEAR_LINE = '\u001B[K'
const CLEAR_BELOW = '\u001B[J'

export function define(command: Command, { out, project }: Cli): void {
  command.option('--once', 'print one frame and end').action(({ once = false }) =>
    project.withOperations(async (operations) => {
      const frames = new Frames(operations)
      const ended = onInterrupt()
      const { paint } = out
      if (once || !out.isWatched) {
        const frame = await frames.read(commandClock.now())
        return out.result(frame, () => drawFrame(frame, { paint, width: out.width ?? 120, height: 30 }))
      }
      const terminal = out.streams.stdout as NodeJS.WritableStream & { columns?: number; rows?: number }
      terminal.write(ENTER)
      try {
        while (!ended.aborted) {
          const frame = await frames.read(commandClock.now())
          const { columns: width = 80, rows: height = 24 } = terminal
          const note = paint('dim', '"upshot runs show <run>" shows why. Ctrl-C leaves.')
          const lines = [...drawFrame(frame, { paint, width, height: height - 1 }), note]
          terminal.write(`${HOME}${lines.map((line) => line + CLEAR_LINE).join('\r\n')}${CLEAR_BELOW}`)
          await waitUntil(commandClock, commandClock.now() + FRAME_MS, ended).catch(() => {})
        }
      } finally {
        terminal.write(LEAVE)
      }
    }),
  )
}

type Run = Frame['forPerson'][number]
type System = NonNullable<Frame['system']>

interface Screen extends Pick<Output, 'paint'> {
  width: number
  height: number
}

const BARS = '▁▂▃▄▅▆▇█'
const MIN_ROWS = 3
/** The newest ones. */
const MAX_WORKING = 5
/** The largest ones, which fill a line. */
const MAX_TABLES = 4

/** The lines of a frame, one less than the screen has. */
export function drawFrame(frame: Frame, screen: Screen): string[] {
  const head = [drawProcess(frame, screen), ...drawRoom(frame, screen), ...drawLoad(frame, screen), '']
  const working = frame.atWork.slice(0, MAX_WORKING)
  const bars = working.length === 0 ? [] : ['', ...formatTable(working, WORKING, screen)]
  // The two tables share what head, bars, titles, gaps and the last line leave.
  const room = Math.max(2 * MIN_ROWS, screen.height - head.length - bars.length - 5)
  const personal = Math.min(frame.forPerson.length, Math.max(MIN_ROWS, room - frame.workflows.length))
  const workflows = frame.workflows.slice(0, Math.max(MIN_ROWS, room - personal))
  const lines = [
    ...head,
    ...(workflows.length === 0 ? ['No run was made in this hour.'] : formatTable(workflows, LOADS, screen)),
    ...bars,
    '',
    ...drawPersonal(frame, screen, personal),
  ]
  return lines.slice(0, screen.height - 1)
}

function drawProcess({ at, system }: Frame, { paint, width }: Screen): string {
  const clock = `${new Date(at).toISOString().slice(11, 19)} UTC`
  const alive = (system?.processes ?? []).filter(({ isSilent }) => !isSilent)
  const [first] = alive.toSorted((one, other) => (one.startedAt < other.startedAt ? -1 : 1))
  const many = alive.length === 1 ? '1 process' : `${alive.length} processes`
  const state = first === undefined ? paint('red', '○ no process runs') : `${paint('green', '●')} ${many}`
  const up = first === undefined ? '' : `  up ${formatAge(Date.parse(first.startedAt), at)}`
  const plain = `upshot ${first?.version ?? ''}  ${system === null ? '…' : `${state}${up}  ${drawDisk(system)}`}`
  return `${plain}${' '.repeat(Math.max(2, width - lengthOf(plain) - clock.length))}${clock}`
}

function drawDisk({ databaseBytes, logBytes, room }: System): string {
  return `${formatBytes(databaseBytes)}${room === null ? ` + log ${formatBytes(logBytes)}` : ''}`
}

/** The largest tables of a server, and the weeks of runs that it keeps. */
function drawRoom({ system }: Frame, { paint, width }: Screen): string[] {
  const room = system?.room ?? null
  if (room === null) return []
  const weeks = room.weeks.find(({ kind }) => kind === 'runs')?.kept ?? 0
  const tables = room.tables.slice(0, MAX_TABLES).map(({ table, bytes }) => `${table} ${formatBytes(bytes)}`)
  return [paint('dim', formatText(`tables ${tables.join('  ')}   weeks of runs ${weeks}`, width))]
}

/** One line, or more on a narrow screen. */
function drawLoad({ at, overview }: Frame, { paint, width }: Screen): string[] {
  const { received, pending, running, forPerson, failed, oldestPendingAt, approvals, alerts, stops } = overview
  const { accepted, duplicate, conflict, refused } = received
  const oldest = oldestPendingAt === null ? '' : ` (oldest ${formatAge(Date.parse(oldestPendingAt), at)})`
  const warn = (text: string, count: number) => (count === 0 ? text : paint('yellow', text))
  const bad = warn(`refused ${refused + conflict}`, refused + conflict)
  const parts = [
    `in 24 h ${accepted}  duplicate ${duplicate}  ${bad}`,
    `runs ▶ ${formatCount(running)}  ○ ${formatCount(pending)}${oldest}`,
    warn(`☞ ${formatCount(forPerson)}  ✗ ${formatCount(failed)}`, forPerson.count + failed.count),
    ...(approvals.open > 0 ? [paint('yellow', `approvals ${approvals.open}`)] : []),
    ...(alerts.open > 0 ? [paint('yellow', `alerts ${alerts.open}`)] : []),
    ...(stops > 0 ? [paint('red', `stops ${stops}`)] : []),
    `${drawBars(overview)} a day`,
  ]
  const lines: string[] = []
  for (const part of parts) {
    const last = lines.at(-1)
    if (last === undefined || lengthOf(last) + lengthOf(part) + 3 > width) lines.push(part)
    else lines[lines.length - 1] = `${last}   ${part}`
  }
  return lines
}

function formatCount({ count, isMore }: { count: number; isMore: boolean }): string {
  return `${count}${isMore ? '+' : ''}`
}

/** A bar for each hour in which runs were made. */
function drawBars({ hours }: Frame['overview']): string {
  const byHour = [...Map.groupBy(hours, ({ at }) => at)].sort(([one], [other]) => (one < other ? -1 : 1))
  const counts = byHour.map(([, rows]) => rows.reduce((sum, { runs }) => sum + runs, 0))
  const most = Math.max(1, ...counts)
  return counts.map((count) => BARS[Math.round((count / most) * (BARS.length - 1))]).join('')
}

function drawPersonal({ at, forPerson }: Frame, screen: Screen, rows: number): string[] {
  if (forPerson.length === 0) return ['Nothing needs you.']
  return formatTable(forPerson.slice(0, rows), personalColumns(at), screen)
}

const LOADS: Column<WorkflowLoad>[] = [
  { title: 'WORKFLOW', value: ({ workflow }) => workflow, most: 40 },
  { title: 'RUNS/H', value: ({ runs }) => runs, align: 'right' },
  { title: '/MIN', value: ({ perMinute }) => perMinute?.toFixed(perMinute < 10 ? 1 : 0) ?? null, align: 'right' },
  {
    title: 'FAILED',
    value: ({ failed }) => (failed === null ? null : `${(failed * 100).toFixed(1)} %`.padStart(7)),
    align: 'right',
    style: ({ failed }) => (failed !== null && failed > 0 ? 'red' : null),
  },
  { title: 'P50', value: ({ p50Ms }) => formatTime(p50Ms), align: 'right' },
  { title: 'P95', value: ({ p95Ms }) => formatTime(p95Ms), align: 'right' },
]

const WORKING: Column<Run>[] = [
  { title: 'AT WORK', value: ({ workflow }) => workflow, most: 40 },
  { title: 'RUN', value: ({ id }) => id, isId: true },
  { title: 'PROGRESS', value: ({ progress }) => progress && drawBar(progress, 20), cut: 'never' },
  { title: '', value: ({ progress }) => progress && describeProgress(progress, true) },
]

/** As wide for a millisecond as for an hour, so that no column moves from frame to frame. */
function formatTime(ms: number | null): string | null {
  if (ms === null) return null
  const text = ms < 1_000 ? `${ms} ms` : ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : formatAge(0, ms)
  return text.padStart(TIME_WIDTH)
}

const TIME_WIDTH = '23 h 59 m'.length

function personalColumns(now: number): Column<Run>[] {
  return [
    {
      title: 'NEEDS YOU',
      value: ({ status, workflow }) => `${status === 'failed' ? '✗' : '☞'} ${workflow}`,
      most: 40,
      style: ({ status }) => (status === 'failed' ? 'red' : 'yellow'),
    },
    { title: 'RUN', value: ({ id }) => id, isId: true },
    {
      title: 'AGE',
      value: ({ createdAt }) => formatAge(Date.parse(createdAt), now).padStart(TIME_WIDTH),
      align: 'right',
      cut: 'never',
    },
    { title: 'WHY', value: ({ error, reason }) => (error === null ? reason : summarizeFailure(error)) },
  ]
}

/** Characters that a painted line takes on the screen. */
function lengthOf(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: styles are control sequences.
  return text.replace(/\u001B\[[\d;]*m/g, '').length
}
