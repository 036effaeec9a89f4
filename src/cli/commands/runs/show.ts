import type { AnswerOf } from '../../../admin/contract/routes.ts'
import type { PreviewedJob } from '../../../app/preview/isolated-process.ts'
import { readAct } from '../../../core/safety/ledger/outside-act.ts'
import { commandClock } from '../../command-clock.ts'
import { actCommand } from '../../operate/act-command.ts'
import { formatFailure, formatMoment, formatSpan, formatText } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { type Column, formatFacts, formatRows, formatSection, type Layout } from '../../terminal/table.ts'
import { formatFindings, formatHeld } from '../safety/plan/plan-view.ts'
import {
  describeCause,
  describeOrigin,
  describeProgress,
  describeReason,
  describeResolution,
  describeTags,
  drawBar,
  styleStatus,
} from './run-view.ts'

type Details = AnswerOf<'GET /runs/:id/details'>
type Step = Details['steps'][number]

const OUTPUT_SHOWN = 100
/** Steps that are read. */
const MAX_STEPS = 100_000
/** Time from which a run at work says for how long nothing of it has ended. */
const STILL_MS = 60_000

export const define = actCommand('GET /runs/:id/details', {
  argument: ['id', 'id of the run, run_…, or its beginning'],
  query: () => ({ steps: MAX_STEPS }),
  done: (run, _, { out }) => formatDetails(run, out),
  note({ id, status, resolution, hooks, error }) {
    const isFailed = status === 'failed' && resolution === null
    const again = error?.once
      ? `\nAs a new run from the failed step: upshot runs fork ${id} --from-step "${error.step}"`
      : `\nFrom the failed step again: upshot runs retry ${id}`
    const open = hooks.find(({ state }) => state === 'open')
    return [
      ...(isFailed ? [again, `A test of this failure:      upshot runs test ${id}`] : []),
      ...(open ? [`\nAnswer in place of its sender: upshot runs answer ${id} "${open.step}" --data null`] : []),
    ].join('\n')
  },
})

function formatDetails(run: Details, layout: Layout): string[] {
  const { event, steps, hooks, log, outside, chain, children } = run
  const { paint } = layout
  const plan = run.status === 'planned' ? (run.output as PreviewedJob) : null
  const failures = steps.flatMap(({ key, failures }) => failures.map((failure) => ({ key, ...failure })))
  const style = styleStatus(run)
  const kind = event === null ? '' : `  ${event.type}, received ${formatMoment(event.receivedAt)}`
  const cause = describeCause(run)
  const facts: [string, string | null][] = [
    ['status', style === null ? run.status : paint(style, run.status)],
    ['why', describeReason(run) ?? describeStillness(run, steps)],
    [
      'progress',
      run.progress && `${drawBar(run.progress, 24)}  ${describeProgress(run.progress, run.status === 'running')}`,
    ],
    ['error', run.error === null ? null : formatFailure(run.error)],
    ['resolved', describeResolution(run)],
    ['workflow', run.workflow],
    ['tags', describeTags(run)],
    ['account', run.account],
    ['cause', cause && `${cause}${kind}`],
    ['lineage', describeOrigin(run)],
    ['continued', run.continuedBy && `by ${run.continuedBy}`],
    ['folded', run.folded === 0 ? null : `${run.folded} other runs into this one`],
    ['created', formatMoment(run.createdAt)],
    ['started', formatMoment(run.startedAt)],
    ['took', formatSpan(run.startedAt, run.finishedAt)],
    ['output', plan === null ? describeOutput(run) : null],
  ]
  const known = formatFacts(facts.map(([name, value]) => [name, value && shorten(name, value)] as const))
  return [
    paint('bold', run.id),
    ...known,
    ...(plan === null ? [] : ['', 'Planned only: nothing of this was done.', ...formatHeld(plan)]),
    ...(plan === null ? [] : formatFindings(plan, layout)),
    ...formatRows('Steps', steps, STEP_COLUMNS, layout),
    ...formatRows('Hooks', hooks, HOOK_COLUMNS, layout),
    ...formatSection('Log', formatLog(log, paint), paint),
    ...formatSection('Past the guard and the ledger', outside.map(formatAct), paint),
    ...formatRows('Failed attempts', failures, FAILURE_COLUMNS, layout),
    ...formatRows('Its chain of runs', chain, chainColumns(run), layout),
    ...formatRows('Runs derived from it', children.toReversed(), CHILD_COLUMNS, layout),
  ]
}

/**
 * For how long nothing of a run at work has ended, from a minute on. A step at work may have no
 * row. Where its code awaits something else, the log of the run says so.
 */
function describeStillness({ status, startedAt }: Details, steps: readonly Step[]): string | null {
  const now = commandClock.now()
  const ended = steps.filter(({ finishedAt }) => finishedAt !== null)
  const last = ended.reduce<Step | null>((a, b) => (a && (a.finishedAt ?? '') > (b.finishedAt ?? '') ? a : b), null)
  const since = last?.finishedAt ?? startedAt
  if (status !== 'running' || since === null || now - Date.parse(since) < STILL_MS) return null
  const after = last === null ? 'since it started' : `since step "${last.key}"`
  const open = steps.find((step) => step.status === 'started')
  const stands = open ? `step "${open.key}" is at work` : 'a step is at work, or its code awaits something else'
  return `nothing has ended for ${formatSpan(since, now)}, ${after}: ${stands}`
}

function formatAct({ call: operation, where: outcome, host: target, place: proof, step }: Details['outside'][number]) {
  const act = readAct({ phase: 'noted', operation, outcome, target, proof })
  return formatText(`${act}${step === null ? '' : `, step "${step}"`}`, 300)
}

/** Makes a value safe and short. A status is our own word, and may contain color codes. */
function shorten(name: string, value: string): string {
  return name === 'status' ? value : formatText(value, name === 'output' ? OUTPUT_SHOWN : 300)
}

const STEP_COLUMNS: Column<Step>[] = [
  { title: 'STEP', value: ({ key }) => key, most: 60 },
  { title: 'EFFECT', value: ({ effect }) => effect },
  { title: 'TARGET', value: ({ target }) => target, most: 50 },
  { title: 'STATUS', value: ({ status }) => status, style: styleStatus },
  { title: 'ATTEMPT', value: ({ attempt }) => attempt, align: 'right' },
  { title: 'STARTED', value: ({ startedAt }) => formatMoment(startedAt) },
  { title: 'TOOK', value: ({ startedAt, finishedAt }) => formatSpan(startedAt, finishedAt), align: 'right' },
  { title: 'OUTPUT', value: (step) => step.error?.message ?? describeOutput(step), most: OUTPUT_SHOWN },
]

const HOOK_COLUMNS: Column<Details['hooks'][number]>[] = [
  { title: 'STEP', value: ({ step }) => step, most: 60 },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'ANSWERS', value: ({ answers }) => answers, align: 'right' },
  { title: 'UNTIL', value: ({ expiresAt }) => formatMoment(expiresAt) },
  { title: 'ADDRESS', value: ({ address }) => address, most: 60 },
  { title: 'ASKS', value: ({ ask }) => ask, most: 60 },
]

function chainColumns(shown: Details): Column<Details['chain'][number]>[] {
  return [
    { title: 'RUN', value: ({ id }) => id, isId: true },
    { title: 'STATUS', value: ({ status }) => status, style: styleStatus },
    { title: 'CREATED', value: ({ createdAt }) => formatMoment(createdAt) },
    { title: 'TOOK', value: ({ startedAt, finishedAt }) => formatSpan(startedAt, finishedAt), align: 'right' },
    { title: '', value: ({ id }) => (id === shown.id ? 'this one' : null) },
  ]
}

const CHILD_COLUMNS: Column<Details['children'][number]>[] = [
  { title: 'RUN', value: ({ id }) => id, isId: true },
  { title: 'HOW', value: ({ origin }) => describeOrigin({ origin, originRun: 'it' }) },
  { title: 'STATUS', value: ({ status }) => status, style: styleStatus },
]

/** Log lines for a person; a log that lost its oldest lines says so. */
function formatLog(log: Details['log'], paint: Output['paint']): string[] {
  const lost = (log[0]?.number ?? 1) - 1
  const style = { warn: 'yellow', error: 'red' } as const
  const lines = log.map(({ at, level, message, facts }) => {
    const color = level === 'warn' || level === 'error' ? style[level] : null
    const mark = color === null ? level.padEnd(5) : paint(color, level.padEnd(5))
    const text = formatText(facts === null ? message : `${message}  ${JSON.stringify(facts)}`, 300)
    return `${formatMoment(at)}  ${mark}  ${text}`
  })
  return lost === 0 ? lines : [`… ${lost} older lines are only in the log of the app`, ...lines]
}

/** A result as JSON, or the size of one that is not told; null where it has none. */
function describeOutput({ output, outputBytes }: Pick<Details, 'output' | 'outputBytes'>): string | null {
  if (outputBytes === null) return null
  return output === null && outputBytes > 4 ? `${outputBytes} bytes of JSON` : JSON.stringify(output)
}

const FAILURE_COLUMNS: Column<Step['failures'][number] & { key: string }>[] = [
  { title: 'STEP', value: ({ key }) => key, most: 60 },
  { title: 'ATTEMPT', value: ({ attempt }) => attempt, align: 'right' },
  { title: 'AT', value: ({ at }) => formatMoment(at) },
  { title: 'ERROR', value: ({ error }) => formatFailure(error), most: 300 },
]
