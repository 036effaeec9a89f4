import type { Command } from '@commander-js/extra-typings'
import type { RoomPlan } from '../../../app/play/room.ts'
import type { EventRecord } from '../../../core/incoming/event.ts'
import type { Run } from '../../../core/runs/run.ts'
import type { KeptLogLine } from '../../../core/runs/run-log.ts'
import type { Checkpoint } from '../../../core/runs/step.ts'
import type { EffectRecord } from '../../../core/safety/effect.ts'
import { readAct } from '../../../core/safety/ledger/outside-act.ts'
import type { StepFailure } from '../../../core/store/journal.ts'
import { readChain } from '../../../core/store/runs.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { requireRun } from '../../open/find-run.ts'
import {
  formatFailure,
  formatMoment,
  formatSpan,
  formatText,
  parseOutput,
  withIsoTimes,
} from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { type Column, formatSection, formatTable, indented, type Layout } from '../../terminal/table.ts'
import { formatFindings, formatHolds } from '../safety/plan/plan-view.ts'
import {
  describeCause,
  describeOrigin,
  describeReason,
  describeResolution,
  describeRun,
  styleStatus,
} from './run-view.ts'

/** A run with everything related to it. */
interface Story {
  run: Run
  /** Null if a tick or another run caused it. */
  event: EventRecord | null
  steps: Checkpoint[]
  failures: StepFailure[]
  log: KeptLogLine[]
  /** The runs of its chain by `step.continueAs`; empty without one. */
  chain: Run[]
  /** Calls past the guard and the ledger, oldest first. */
  outside: EffectRecord[]
  /** Of a run that was only planned; null for any other. */
  plan: RoomPlan | null
  /** Runs derived from this one: replays, forks, runs of `onFailure`. */
  children: Run[]
}

const OUTPUT_SHOWN = 100
const CHILDREN_SHOWN = 100
const OUTSIDE_SHOWN = 50
/** Time from which a run at work says for how long nothing of it has ended. */
const STILL_MS = 60_000

/** `upshot runs show <id>`: one run with its event, steps and failed attempts. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<id>', 'id of the run, run_…, or its beginning').action((id) =>
    project.withStore(async (store) => {
      const story = await readStory(store, id)
      out.result(describeStory(story), () => formatStory(story, commandClock.now(), out))
      if (story.run.status === 'failed' && story.run.resolution === null) out.note(writeNext(story.run))
    }),
  )
}

function writeNext({ id }: Run): string {
  return `\nFrom the failed step again: upshot runs retry ${id}\nA test of this failure:      upshot runs test ${id}`
}

/** The story of a run, as lines for a person. */
export async function tellStory(store: ReadStore, id: string, layout: Layout): Promise<string[]> {
  return formatStory(await readStory(store, id), commandClock.now(), layout)
}

async function readStory(store: ReadStore, named: string): Promise<Story> {
  const run = await requireRun(store, named)
  const { id } = run
  const [event = null] = run.eventId === null ? [] : await store.findEvents(run.eventId)
  return {
    run,
    event,
    steps: await store.listSteps(id),
    failures: await store.listStepFailures(id),
    log: await store.listRunLog(id),
    chain: await readChain(store, run),
    outside: (await store.listEffects({ runId: id, phases: ['noted'], limit: OUTSIDE_SHOWN })).toReversed(),
    plan: run.status === 'planned' ? JSON.parse(run.output ?? (await store.readOutput(id, null))) : null,
    children: await store.listRuns({ limit: CHILDREN_SHOWN, originRun: id }),
  }
}

function describeStory({ run, event, steps, failures, log, outside, chain, children }: Story): Record<string, unknown> {
  return {
    ...describeRun(run),
    event: event && { ...withIsoTimes(event), body: event.body === '' ? null : JSON.parse(event.body) },
    steps: steps.map(({ output, ...step }) => ({ ...withIsoTimes(step), output: parseOutput(output) })),
    failures: failures.map(withIsoTimes),
    log: log.map(({ runId: _, facts, ...line }) => ({ ...withIsoTimes(line), facts: parseOutput(facts) })),
    outside: outside.map(({ at, operation, outcome, target, step, proof }) => ({
      ...{ call: operation, where: outcome, host: target, step, place: proof },
      ...withIsoTimes({ at }),
    })),
    chain: chain.map(({ id, status, createdAt, finishedAt }) => ({
      id,
      status,
      ...withIsoTimes({ createdAt, finishedAt }),
    })),
    children: children.map(({ id, workflow, status, origin, handler }) => ({ id, workflow, status, origin, handler })),
  }
}

function formatStory(
  { run, event, steps, failures, log, outside, chain, plan, children }: Story,
  now: number,
  layout: Layout,
): string[] {
  const { paint } = layout
  const style = styleStatus(run)
  const kind = event === null ? '' : `  ${event.type}, received ${formatMoment(event.receivedAt, now)}`
  const cause = describeCause(run, now)
  const facts: [string, string | null][] = [
    ['status', style === null ? run.status : paint(style, run.status)],
    ['why', describeReason(run, now) ?? describeStillness(run, steps, now)],
    ['error', run.error === null ? null : formatFailure(run.error)],
    ['resolved', describeResolution(run, now)],
    ['workflow', run.workflow],
    ['account', run.account],
    ['cause', cause && `${cause}${kind}`],
    ['lineage', describeOrigin(run)],
    ['continued', run.continuedBy && `by ${run.continuedBy}`],
    ['folded', run.folded === 0 ? null : `${run.folded} other runs into this one`],
    ['created', formatMoment(run.createdAt, now)],
    ['started', formatMoment(run.startedAt, now)],
    ['took', formatSpan(run.startedAt, run.finishedAt)],
    ['output', plan === null ? (run.output ?? describeApart(run)) : null],
  ]
  const known = facts.flatMap(([name, value]) => (value === null ? [] : `  ${name.padEnd(9)} ${shorten(name, value)}`))
  return [
    paint('bold', run.id),
    ...known,
    ...(plan === null ? [] : ['', 'Planned only: nothing of this was done.', ...formatHolds(plan)]),
    ...(plan === null ? [] : formatFindings(plan, layout)),
    ...formatSection('Steps', formatTable(steps, stepColumns(now), indented(layout)), paint),
    ...formatSection('Log', formatLog(log, now, paint), paint),
    ...formatSection('Past the guard and the ledger', outside.map(tellAct), paint),
    ...formatSection('Failed attempts', formatTable(failures, failureColumns(now), indented(layout)), paint),
    ...formatSection('Its chain of runs', formatTable(chain, chainColumns(run, now), indented(layout)), paint),
    ...formatSection(
      'Runs derived from it',
      formatTable(children.toReversed(), CHILD_COLUMNS, indented(layout)),
      paint,
    ),
  ]
}

/**
 * For how long nothing of a run at work has ended, from a minute on. A step at work may have no
 * row. Where its code awaits something else, the log of the run says so.
 */
function describeStillness({ status, startedAt }: Run, steps: readonly Checkpoint[], now: number): string | null {
  const ended = steps.filter(({ finishedAt }) => finishedAt !== null)
  const last = ended.reduce<Checkpoint | null>((a, b) => (a && (a.finishedAt ?? 0) > (b.finishedAt ?? 0) ? a : b), null)
  const since = last?.finishedAt ?? startedAt
  if (status !== 'running' || since === null || now - since < STILL_MS) return null
  const after = last === null ? 'since it started' : `since step "${last.key}"`
  const open = steps.find((step) => step.status === 'started')
  const stands = open ? `step "${open.key}" is at work` : 'a step is at work, or its code awaits something else'
  return `nothing has ended for ${formatSpan(since, now)}, ${after}: ${stands}`
}

function tellAct(row: EffectRecord): string {
  return formatText(`${readAct(row)}${row.step === null ? '' : `, step "${row.step}"`}`, 300)
}

/** Makes a value safe and short. A status is our own word, and may contain color codes. */
function shorten(name: string, value: string): string {
  return name === 'status' ? value : formatText(value, name === 'output' ? OUTPUT_SHOWN : 300)
}

function stepColumns(now: number): Column<Checkpoint>[] {
  return [
    { title: 'STEP', value: ({ key }) => key, most: 60 },
    { title: 'EFFECT', value: ({ effect }) => effect },
    { title: 'TARGET', value: ({ target }) => target, most: 50 },
    { title: 'STATUS', value: ({ status }) => status, style: styleStatus },
    { title: 'ATTEMPT', value: ({ attempt }) => attempt, align: 'right' },
    { title: 'STARTED', value: ({ startedAt }) => formatMoment(startedAt, now) },
    { title: 'TOOK', value: ({ startedAt, finishedAt }) => formatSpan(startedAt, finishedAt), align: 'right' },
    { title: 'OUTPUT', value: (step) => step.error?.message ?? step.output ?? describeApart(step), most: OUTPUT_SHOWN },
  ]
}

function chainColumns(shown: Run, now: number): Column<Run>[] {
  return [
    { title: 'RUN', value: ({ id }) => id, isId: true },
    { title: 'STATUS', value: ({ status }) => status, style: styleStatus },
    { title: 'CREATED', value: ({ createdAt }) => formatMoment(createdAt, now) },
    { title: 'TOOK', value: ({ startedAt, finishedAt }) => formatSpan(startedAt, finishedAt), align: 'right' },
    { title: '', value: ({ id }) => (id === shown.id ? 'this one' : null) },
  ]
}

const CHILD_COLUMNS: Column<Run>[] = [
  { title: 'RUN', value: ({ id }) => id, isId: true },
  { title: 'HOW', value: (run) => describeOrigin(run)?.replace(/ run_.*/, ' it') ?? null },
  { title: 'STATUS', value: ({ status }) => status, style: styleStatus },
]

/** Log lines for a person; a log that lost its oldest lines says so. */
function formatLog(log: readonly KeptLogLine[], now: number, paint: Output['paint']): string[] {
  const lost = (log[0]?.number ?? 1) - 1
  const style = { info: null, warn: 'yellow', error: 'red' } as const
  const lines = log.map(({ at, level, message, facts }) => {
    const mark = style[level] === null ? level.padEnd(5) : paint(style[level], level.padEnd(5))
    const text = formatText(facts === null ? message : `${message}  ${facts}`, 300)
    return `${formatMoment(at, now)}  ${mark}  ${text}`
  })
  return lost === 0 ? lines : [`… ${lost} older lines are only in the log of the app`, ...lines]
}

/** The size of a large result, which is stored apart. */
function describeApart({ apartBytes }: { apartBytes?: number }): string | null {
  return apartBytes === undefined ? null : `${apartBytes} bytes of JSON`
}

function failureColumns(now: number): Column<StepFailure>[] {
  return [
    { title: 'STEP', value: ({ key }) => key, most: 60 },
    { title: 'ATTEMPT', value: ({ attempt }) => attempt, align: 'right' },
    { title: 'AT', value: ({ at }) => formatMoment(at, now) },
    { title: 'ERROR', value: ({ error }) => formatFailure(error), most: 300 },
  ]
}
