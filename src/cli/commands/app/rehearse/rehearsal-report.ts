import { readRunDetails } from '../../../../admin/resources/read-run-details.ts'
import { describeEffect } from '../../../../admin/views/run-view.ts'
import type { Rehearsal } from '../../../../app/rehearsal/rehearsal.ts'
import type { StagedFile } from '../../../../app/rehearsal/stage-files.ts'
import type { EventRecord } from '../../../../core/incoming/event.ts'
import { formatBytes, formatFailure, formatSpan, formatText } from '../../../terminal/format-value.ts'
import { type Column, formatSection, formatTable, indented, type Layout } from '../../../terminal/table.ts'
import { describeReason, styleStatus } from '../../runs/run-view.ts'
import type { OrderedFault } from '../../sandbox/fault.ts'

type Step = Report['runs'][number]['steps'][number]
type Effect = ReturnType<typeof describeEffect>

/** Rows of a table that a person is shown. */
const SHOWN = 50

/** For JSON. */
export function describeReport(report: Report): Record<string, unknown> {
  const { event, runs, effects, staged, gone, made, requests, faults, refused, isAtRest, skippedMs } = report
  return {
    event: event.id,
    type: event.type,
    account: event.account,
    isAtRest,
    skippedMs,
    runs,
    effects,
    files: { before: staged.files, left: staged.left, gone, made },
    requests,
    faults,
    refused,
  }
}

/** For a person: what was there, what each run did, and what is otherwise now. */
export function formatReport(report: Report, layout: Layout): string[] {
  const { event, runs, staged } = report
  const { paint } = layout
  return [
    `${paint('bold', event.id)}, ${formatText(event.type)}, in a sandbox of its own`,
    ...formatFiles('It began with these files', staged.files, layout),
    ...staged.left.map(({ storage, path, reason }) => formatText(`  left out: ${storage}:${path}: ${reason}`)),
    ...(runs.length === 0 ? ['', 'No workflow runs on this event.'] : []),
    ...runs.flatMap((run) => formatRun(run, layout)),
    ...formatSection('Effects', formatRows(effectsOf(report), EFFECTS, layout), paint),
    ...formatFiles('Gone in the end', report.gone, layout),
    ...formatFiles('New in the end', report.made, layout),
    '',
    ...formatEnd(report),
  ]
}

function formatRun(run: Report['runs'][number], layout: Layout): string[] {
  const { paint } = layout
  const style = styleStatus(run)
  const status = style === null ? run.status : paint(style, run.status)
  const reason = describeReason(run)
  const title = `${run.workflow}  ${status}${reason === null ? '' : `: ${formatText(reason, 300)}`}`
  const cause = run.eventType === null ? '' : `  on ${formatText(run.eventType)}`
  return ['', `${title}${paint('dim', `${cause}, ${run.id}`)}`, ...formatRows(run.steps, STEPS, layout).map(indent)]
}

function indent(line: string): string {
  return `  ${line}`
}

function formatFiles(title: string, files: readonly StagedFile[], layout: Layout): string[] {
  return formatSection(title, formatRows(files, FILES, layout), layout.paint)
}

function formatRows<Row>(rows: readonly Row[], columns: Column<Row>[], layout: Layout): string[] {
  const rest = rows.length - SHOWN
  if (rows.length === 0) return []
  const more = rest > 0 ? [`  … and ${rest} more: add --json`] : []
  return [...formatTable(rows.slice(0, SHOWN), columns, indented(layout)), ...more]
}

/** The end of a delete tells more than its beginning. */
function effectsOf({ effects }: Report): Effect[] {
  const ended = new Set(effects.map(({ ofSeq }) => ofSeq))
  return effects.filter(({ seq, class: kind }) => kind !== 'guard' && !ended.has(seq))
}

function formatEnd({ requests, faults, refused, hosts, isAtRest, skippedMs }: Report): string[] {
  const calls = requests.map(({ operation, count, refused: errors }) => {
    return `${count} ${operation}${errors === 0 ? '' : ` (${errors} refused)`}`
  })
  return [
    ...faults.map(({ order, struck, times }) => {
      const end =
        struck === 0
          ? 'never happened: no such call was made'
          : `struck ${struck}${times === null ? '' : ` of ${times}`} times`
      return `Fault "${order}" ${end}.`
    }),
    ...refused.map((host) => `A workflow asked for ${formatText(host)}, and did not get it: see --allow-host.`),
    ...(skippedMs < 1_000
      ? []
      : [`Its clock was set forward by ${formatSpan(0, skippedMs)}: nobody waits for sleeps.`]),
    ...(isAtRest ? [] : ['It gave up while work was under way: see --within.']),
    `Calls to the sandbox: ${calls.join(', ') || 'none'}.${hosts.length === 0 ? ' No other host was called.' : ''}`,
  ]
}

const FILES: Column<StagedFile>[] = [
  { title: 'STORAGE', value: ({ storage }) => storage },
  { title: 'PATH', value: ({ path, type }) => (type === 'folder' ? `${path}/` : path), most: 80, cut: 'start' },
  { title: 'SIZE', value: ({ bytes }) => formatBytes(bytes), align: 'right' },
  { title: 'ID', value: ({ id }) => id, most: 30 },
  { title: 'MADE UP', value: ({ madeUp }) => (madeUp.length === 0 ? null : madeUp.join(', ')) },
]

const STEPS: Column<Step>[] = [
  { title: 'STEP', value: ({ key }) => key, most: 60 },
  { title: 'KIND', value: ({ kind, effect }) => (kind === 'run' ? effect : kind) },
  { title: 'STATUS', value: ({ status }) => status, style: (step) => styleStatus(step) },
  { title: 'RESULT', value: formatResult, most: 60 },
]

function formatResult({ error, output }: Step): string | null {
  if (error !== null) return formatFailure(error)
  return output === null ? null : JSON.stringify(output)
}

const EFFECTS: Column<Effect>[] = [
  { title: 'WHAT', value: ({ operation }) => operation, most: 40 },
  { title: 'FILE', value: ({ path, target }) => path ?? target, most: 60, cut: 'start' },
  { title: 'SIZE', value: ({ bytes }) => formatBytes(bytes), align: 'right' },
  { title: 'OUTCOME', value: ({ outcome, phase }) => outcome ?? phase, most: 20 },
  { title: 'RUN', value: ({ runId }) => runId, isId: true },
]

/** Rows of a kind that a rehearsal shows. */
const MAX_ROWS = 1_000

export interface Report {
  event: EventRecord
  /** Oldest first, with those of events that came after, as `runs show` tells them. */
  runs: Awaited<ReturnType<typeof readRunDetails>>[]
  /** Rows of the ledger, oldest first. */
  effects: Effect[]
  staged: Rehearsal['staged']
  gone: StagedFile[]
  made: StagedFile[]
  /** Requests that the sandbox got, by operation. */
  requests: { operation: string; count: number; refused: number }[]
  /** Faults that were ordered, with how often each struck; `times`: null for always. */
  faults: { order: string; struck: number; times: number | null }[]
  /** Hosts that workflows asked for, and did not get. */
  refused: string[]
  /** Hosts that workflows might reach beside the sandbox. */
  hosts: readonly string[]
  /** False where it was given up with work under way. */
  isAtRest: boolean
  /** How far the clock was set forward, in milliseconds. */
  skippedMs: number
}

export async function readReport(
  rehearsal: Rehearsal,
  {
    before,
    faults,
    ...about
  }: Pick<Report, 'event' | 'hosts' | 'isAtRest'> & {
    before: readonly StagedFile[]
    faults: readonly OrderedFault[]
  },
): Promise<Report> {
  const { store, sandbox, staged, refused, now } = rehearsal
  const after = rehearsal.listFiles()
  const runs = (await store.listRuns({ limit: MAX_ROWS })).toReversed()
  const caller = { name: 'rehearsal', kind: 'cli', id: 'cli', role: 'admin', address: '' } as const
  const effects = (await store.listEffects({ limit: MAX_ROWS })).toReversed()
  return {
    ...about,
    staged,
    effects: effects.map((effect) => describeEffect(effect, caller)),
    runs: await Promise.all(runs.map((run) => readRunDetails(store, run, { caller, most: MAX_ROWS, now }))),
    gone: without(before, after),
    made: without(after, before),
    requests: countRequests(sandbox.audit.requests()),
    // The sandbox lists them in the order in which they were added.
    faults: sandbox.faults.list().flatMap(({ struck, times }, index) => {
      const { text: order } = faults[index] ?? {}
      return order === undefined ? [] : [{ order, struck, times }]
    }),
    refused: [...refused],
    skippedMs: Math.max(0, now - Date.now()),
  }
}

/** The files of the first list that are not in the second one. */
function without(files: readonly StagedFile[], others: readonly StagedFile[]): StagedFile[] {
  const keyOf = ({ storage, id }: StagedFile) => `${storage}:${id}`
  const known = new Set(others.map(keyOf))
  return files.filter((file) => !known.has(keyOf(file)))
}

function countRequests(requests: readonly { operation: string; status: number }[]): Report['requests'] {
  const counts = new Map<string, Report['requests'][number]>()
  for (const { operation, status } of requests) {
    const found = counts.get(operation) ?? { operation, count: 0, refused: 0 }
    found.count += 1
    if (status >= 400) found.refused += 1
    counts.set(operation, found)
  }
  return [...counts.values()]
}
