import type { Command } from '@commander-js/extra-typings'
import type { EventRecord } from '../../../core/incoming/event.ts'
import type { Run } from '../../../core/runs/run.ts'
import type { Checkpoint } from '../../../core/runs/step.ts'
import type { StepFailure } from '../../../core/store/journal.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { systemClock } from '../../../core/time.ts'
import { withStore } from '../../open/open-project.ts'
import { formatMoment, formatSpan, formatText, withIsoTimes } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { describeCause, describeOrigin, describeReason, describeRun, parseOutput, styleStatus } from './run-view.ts'
import { requireRun } from './select-runs.ts'

/** A run with all that the store knows of it. */
interface Story {
  run: Run
  /** Null for a tick. */
  event: EventRecord | null
  steps: Checkpoint[]
  failures: StepFailure[]
  /** Runs that go back to this one: replays, forks, what followed its failure. */
  children: Run[]
}

const OUTPUT_SHOWN = 100
const CHILDREN_SHOWN = 100

/** `upshot runs show <id>`: the run, its event, its steps and their failed attempts. */
export function define(command: Command, out: Output): void {
  command.argument('<id>', 'the run, run_…').action((id) =>
    withStore(async (store) => {
      const story = await readStory(store, id)
      out.result(describeStory(story), () => formatStory(story, systemClock.now(), out.paint))
    }),
  )
}

async function readStory(store: ReadStore, id: string): Promise<Story> {
  const run = await requireRun(store, id)
  const [event = null] = run.eventId === null ? [] : await store.findEvents(run.eventId)
  return {
    run,
    event,
    steps: await store.listSteps(id),
    failures: await store.listStepFailures(id),
    children: await store.listRuns({ limit: CHILDREN_SHOWN, originRun: id }),
  }
}

function describeStory({ run, event, steps, failures, children }: Story): Record<string, unknown> {
  return {
    ...describeRun(run),
    event: event && { ...withIsoTimes(event), body: event.body === '' ? null : JSON.parse(event.body) },
    steps: steps.map(({ output, ...step }) => ({ ...withIsoTimes(step), output: parseOutput(output) })),
    failures: failures.map(withIsoTimes),
    children: children.map(({ id, workflow, status, origin, handler }) => ({ id, workflow, status, origin, handler })),
  }
}

function formatStory({ run, event, steps, failures, children }: Story, now: number, paint: Output['paint']): string[] {
  const style = styleStatus(run)
  const kind = event === null ? '' : `  ${event.type}, received ${formatMoment(event.receivedAt, now)}`
  const facts: [string, string | null][] = [
    ['status', style === null ? run.status : paint(style, run.status)],
    ['why', describeReason(run, now)],
    ['workflow', run.workflow],
    ['cause', `${describeCause(run, now)}${kind}`],
    ['lineage', describeOrigin(run)],
    ['folded', run.folded === 0 ? null : `${run.folded} other runs into this one`],
    ['created', formatMoment(run.createdAt, now)],
    ['started', formatMoment(run.startedAt, now)],
    ['took', formatSpan(run.startedAt, run.finishedAt)],
    ['output', run.output ?? describeApart(run)],
  ]
  const known = facts.flatMap(([name, value]) => (value === null ? [] : `  ${name.padEnd(9)} ${shorten(name, value)}`))
  return [
    paint('bold', run.id),
    ...known,
    ...section('Steps', formatTable(steps, stepColumns(now), paint), paint),
    ...section('Failed attempts', formatTable(failures, failureColumns(now), paint), paint),
    ...section('Runs that go back to it', formatTable(children.toReversed(), CHILD_COLUMNS, paint), paint),
  ]
}

/** A status is a word of ours and may be painted; the rest may come from anywhere. */
function shorten(name: string, value: string): string {
  return name === 'status' ? value : formatText(value, name === 'output' ? OUTPUT_SHOWN : 300)
}

function section(title: string, lines: readonly string[], paint: Output['paint']): string[] {
  return lines.length === 0 ? [] : ['', paint('bold', title), ...lines.map((line) => `  ${line}`)]
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

const CHILD_COLUMNS: Column<Run>[] = [
  { title: 'RUN', value: ({ id }) => id },
  { title: 'HOW', value: (run) => describeOrigin(run)?.replace(/ run_.*/, ' it') ?? null },
  { title: 'STATUS', value: ({ status }) => status, style: styleStatus },
]

/** A result that lies apart is named by its size; it may be millions of characters. */
function describeApart({ apartBytes }: { apartBytes?: number }): string | null {
  return apartBytes === undefined ? null : `${apartBytes} bytes of JSON`
}

function failureColumns(now: number): Column<StepFailure>[] {
  return [
    { title: 'STEP', value: ({ key }) => key, most: 60 },
    { title: 'ATTEMPT', value: ({ attempt }) => attempt, align: 'right' },
    { title: 'AT', value: ({ at }) => formatMoment(at, now) },
    { title: 'ERROR', value: ({ error }) => `${error.name}: ${error.message}`, most: 200 },
  ]
}
