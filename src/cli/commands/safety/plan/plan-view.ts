import { count, describeEnd, describeRefused, sumEffects } from '../../../../app/preview/describe-preview.ts'
import type { PreviewedJob } from '../../../../app/preview/isolated-process.ts'
import type { EventRecord } from '../../../../core/incoming/event.ts'
import type { Asked } from '../../../../core/safety/effect.ts'
import { describeScope, type EffectStop } from '../../../../core/safety/stop.ts'
import { isoTime } from '../../../../core/time.ts'
import { formatBytes, formatFailure, formatText, parseOutput } from '../../../terminal/format-value.ts'
import { type Column, formatRows, formatSection, type Layout } from '../../../terminal/table.ts'

type PreviewedEffect = PreviewedJob['effects'][number]
type PreviewedStep = PreviewedJob['others'][number]

interface AboutPlan {
  workflow: string
  event: EventRecord
  /** Null where the isolated process did not load the workflow. */
  codeHash: string | null
  /** Calls of the service that were made. */
  reads: readonly string[]
  stops: readonly EffectStop[]
}

/** A plan as `--json` gives it. */
export function describePlan(plan: PreviewedJob, { workflow, event, codeHash, reads, stops }: AboutPlan) {
  return {
    workflow,
    codeHash,
    event: event.id,
    account: event.account,
    end: endForJson(plan.end),
    effects: plan.effects.map(({ body, dueAt: _, kind: __, ...effect }) => ({ ...effect, body: parseOutput(body) })),
    steps: plan.others.map(({ dueAt, ...step }) => ({ ...step, dueAt: dueAt === null ? null : isoTime(dueAt) })),
    held: plan.held,
    undeclared: plan.undeclared,
    log: plan.log,
    stops: stops.map(({ since, ...stop }) => ({ ...stop, since: isoTime(since) })),
    readsSent: reads.length,
  }
}

function endForJson(end: PreviewedJob['end']): Record<string, unknown> {
  if (end.kind === 'completed') return { kind: end.kind, output: parseOutput(end.output) }
  return end.kind === 'continued' ? { kind: end.kind, input: parseOutput(end.input) } : { ...end }
}

/** A plan for a person: its end first, then the effects, and what nobody has done. */
export function formatPlan(plan: PreviewedJob, about: AboutPlan, layout: Layout): string[] {
  const { paint } = layout
  const { workflow, event, codeHash } = about
  const code = codeHash === null ? '' : ` (code ${codeHash.slice(0, 8)})`
  return [
    `${paint('bold', workflow)}${code} on ${event.id}, ${event.type}, would ${formatEnd(plan.end)}`,
    ...formatFindings(plan, layout),
    '',
    ...formatHeld(plan),
    ...about.stops.map((stop) => `${describeScope(stop)} are stopped: ${formatText(stop.reason)}`),
    formatSum([plan], about.reads),
  ]
}

/** The effects, steps, log lines and refused calls of a plan. */
export function formatFindings(plan: PreviewedJob, layout: Layout): string[] {
  const { paint } = layout
  return [
    ...formatRows('It would do', plan.effects, EFFECTS, layout),
    ...formatRows('On the way', plan.others, STEPS, layout),
    ...formatSection(
      'It would log',
      plan.log.map(({ level, message }) => `  ${level}  ${formatText(message, 200)}`),
      paint,
    ),
    ...formatSection(
      'Refused',
      plan.undeclared.map((each) => `  ${describeRefused(each)}`),
      paint,
    ),
  ]
}

/** With what the run would give. */
function formatEnd(end: PreviewedJob['end']): string {
  const would = describeEnd(end)
  if (end.kind === 'completed') return `${would}: ${formatText(end.output, 200)}`
  if (end.kind === 'continued') return `${would}, with the input ${formatText(end.input, 200)}`
  return `${would}: ${end.kind === 'failed' ? formatFailure(end.error) : formatText(end.reason, 300)}`
}

const EFFECTS: Column<PreviewedEffect>[] = [
  {
    title: 'WHAT',
    value: ({ class: kind }) => kind.toUpperCase(),
    style: ({ class: kind }) => (kind === 'delete' ? 'red' : null),
  },
  { title: 'STEP', value: ({ step }) => step, most: 60 },
  { title: 'TARGET', value: ({ asked, target }) => asked?.path ?? target, most: 60 },
  {
    title: 'SIZE',
    value: ({ asked }) => (asked?.isFolder ? 'folder' : formatBytes(asked?.bytes ?? null)),
    align: 'right',
  },
  { title: 'RESULT', value: formatResult, most: 60 },
]

const STEPS: Column<PreviewedStep>[] = [
  { title: 'STEP', value: ({ step }) => step, most: 60 },
  { title: 'KIND', value: ({ kind }) => (kind === 'run' ? 'read' : kind) },
  { title: 'ANSWER', value: formatSource },
]

function formatResult(effect: PreviewedEffect): string {
  const condition = effect.class === 'delete' && effect.expect !== null ? ', only if unchanged' : ''
  const content = describeContent(effect.asked, effect.body)
  return `${effect.outcome ?? formatSource(effect)}${condition}${content === null ? '' : `  ${content}`}`
}

function describeContent(asked: Asked | null, body: string | null): string | null {
  if (body !== null) return formatText(body, 60)
  return asked?.input === undefined ? null : formatText(JSON.stringify(asked.input), 60)
}

function formatSource({ source, from, kind }: PreviewedStep): string {
  if (source === 'none') return 'nobody knows'
  if (source === 'derived' && kind === 'sleep') return 'skipped'
  if (source === 'declared') return 'declared by `dry`'
  return from === undefined ? source : `${source} from ${from}`
}

/** The effects that the guard would hold, in a line; none where it holds none. */
export function formatHeld({ held }: PreviewedJob): string[] {
  const [first] = held
  if (first === undefined) return []
  const more = held.length === 1 ? '' : `, and ${held.length - 1} more`
  const rule = { approve: 'would wait for people', wait: 'would wait for room', fail: 'would fail' }[first.over]
  return [`The guard: step "${first.step}"${more} ${rule}: ${first.reason}`]
}

/** A line for each plan of several. */
export const PLANS: Column<{ event: EventRecord; plan: PreviewedJob }>[] = [
  { title: 'EVENT', value: ({ event }) => event.id, isId: true },
  { title: 'WOULD', value: ({ plan }) => formatEnd(plan.end), most: 60 },
  { title: 'DELETES', value: ({ plan }) => sumEffects([plan]).deletes, align: 'right' },
  { title: 'BYTES', value: ({ plan }) => formatBytes(sumEffects([plan]).bytes), align: 'right' },
  { title: 'OTHER EFFECTS', value: ({ plan }) => sumEffects([plan]).others, align: 'right' },
  { title: 'HELD', value: ({ plan }) => plan.held.length || null, align: 'right' },
  { title: 'REFUSED', value: ({ plan }) => plan.undeclared.length || null, align: 'right' },
]

/** Lines about answers that a person may take for more than they are. */
export function advise(plans: readonly PreviewedJob[], { hasRecorded }: { hasRecorded: boolean }): string[] {
  const isBorrowed = plans.some(({ effects, others }) =>
    [...effects, ...others].some(({ source }) => source === 'borrowed'),
  )
  const hasFailed = plans.some(({ end }) => end.kind === 'failed')
  return [
    ...(isBorrowed ? ['A borrowed result is one of another run and its file. To end the plan there: --strict'] : []),
    ...(hasFailed && hasRecorded
      ? ['Reads ask the service now. To use those of the recorded run of the event: --reads recorded']
      : []),
  ]
}

/** The sum of several plans, as their last line. */
export function formatSum(plans: readonly PreviewedJob[], reads: readonly string[]): string {
  const { deletes, bytes, others } = sumEffects(plans)
  const would = `${count(deletes, 'delete')} (${formatBytes(bytes)}), ${count(others, 'other effect')}`
  return `${would}. Nothing was done: ${count(reads.length, 'read')} sent.`
}
