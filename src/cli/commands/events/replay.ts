import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import type { EventRecord } from '../../../core/incoming/event.ts'
import { planRuns } from '../../../core/incoming/route.ts'
import { type EventFilter, markEvent } from '../../../core/store/events.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { systemClock } from '../../../core/time.ts'
import type { Cli } from '../../command.ts'
import { parseSince } from '../../input/parse-option.ts'
import type { PersonStore } from '../../open/open-project.ts'
import { confirm } from '../../terminal/confirm.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import type { Output } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { readIds } from '../runs/select-runs.ts'
import { findEvent } from './find-event.ts'

/** Events that are read at a time. */
const PAGE = 500
/** Events that are replayed in one commit. */
const SLICE = 100

/** The options that select events. */
interface Choice {
  workflow?: string | undefined
  account?: string | undefined
  type?: string | undefined
  since?: number | undefined
  until?: number | undefined
}

/** An event with the workflows to run on it again. */
interface Plan {
  event: EventRecord
  workflows: string[]
}

/** One new run. */
interface Replayed {
  event: string
  workflow: string
  run: string
}

/** `upshot events replay <id…|->`: creates new runs of stored events. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('[ids...]', 'ids of the events, or their beginnings; or - to read ids from standard input')
    .option('--workflow <id>', 'only this workflow (default: all that run on the type of the event)')
    .option('--account <name>', 'account of the events, if several have one with this id')
    .option('--type <type>', 'select events of this exact type')
    .option(
      '--since <when>',
      'select events received since then: a duration before now, such as 1h, or an ISO 8601 time',
      parseSince,
    )
    .option('--until <when>', 'select events received before then, in the same forms', parseSince)
    .action((named, choice) =>
      project.withStore(async (store) => {
        const isSelected = [choice.type, choice.since, choice.until].some((value) => value !== undefined)
        if (named.length > 0 === isSelected) throw describeMisuse()
        const found = isSelected ? await findEvents(store, choice) : await findNamed(store, named, choice)
        const plans = await planReplays(store, found, { workflow: choice.workflow, isStrict: !isSelected })
        const count = plans.reduce((sum, { workflows }) => sum + workflows.length, 0)
        const events = `${plans.length} ${plans.length === 1 ? 'event' : 'events'}`
        const will = `replay ${events} as ${count} new ${count === 1 ? 'run' : 'runs'}`
        const things = plans.map(({ event, workflows }) => `${event.id}  ${event.type}  ${workflows.join(', ')}`)
        const may = (!isSelected && !out.given.dryRun) || count === 0 || (await confirm(out, { will, things }))
        if (!may) return out.result({ dryRun: true, events: plans.length, runs: count }, () => [`This would ${will}.`])
        const replayed = await replayAll(out, store, plans)
        out.result({ dryRun: false, events: plans.length, runs: replayed }, () => formatTable(replayed, COLUMNS, out))
        if (count === 0) out.note('No workflow runs on any of the selected events.')
      }),
    )
}

function describeMisuse(): UpshotError {
  return new UpshotError('invalid_request', 'Give either ids of events or options that select them.', {
    details: {
      fix: 'For example: "upshot events replay evt_1", or "upshot events replay --type file.created --since 1h".',
    },
  })
}

async function findNamed(store: ReadStore, named: readonly string[], { account }: Choice): Promise<EventRecord[]> {
  const ids = await readIds(named, 'events')
  return Promise.all(ids.map((id) => findEvent(store, { id, account })))
}

/** The selected events, oldest first. */
async function findEvents(store: ReadStore, { account, type, since, until }: Choice): Promise<EventRecord[]> {
  const filter: EventFilter = {
    ...(type === undefined ? {} : { type }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  }
  const found: EventRecord[] = []
  for (let before: string | undefined; ; ) {
    const page = await store.listEvents({ ...filter, limit: PAGE, ...(before === undefined ? {} : { before }) })
    found.push(...page.filter((event) => account === undefined || event.account === account))
    if (page.length < PAGE) return found.reverse()
    const last = page.at(-1)
    before = last && markEvent(last)
  }
}

/**
 * The workflows for each event. An event without workflows, or a pruned one, throws if `isStrict`,
 * and is left out otherwise.
 */
async function planReplays(
  store: ReadStore,
  events: readonly EventRecord[],
  { workflow, isStrict }: { workflow: string | undefined; isStrict: boolean },
): Promise<Plan[]> {
  const routes = (await store.listRoutes()) ?? []
  if (workflow !== undefined && !(await store.listWorkflows()).some(({ id }) => id === workflow)) {
    throw new UpshotError('not_found', `There is no workflow "${workflow}".`, {
      details: { fix: 'List them with "upshot workflows list". The app registers them when it starts.' },
    })
  }
  return events.flatMap((event) => {
    const matching = planRuns(event.type, routes)
    const workflows = workflow === undefined ? matching : matching.filter((id) => id === workflow)
    if (workflows.length > 0 && (isStrict || event.body !== '')) return [{ event, workflows }]
    if (!isStrict) return []
    const who = workflow === undefined ? 'No workflow runs' : `The workflow "${workflow}" does not run`
    throw new UpshotError('conflict', `${who} on events of type ${event.type}, such as ${event.id}.`, {
      details: { fix: 'See which types start which workflows: upshot workflows list' },
    })
  })
}

async function replayAll(out: Output, store: PersonStore, plans: readonly Plan[]): Promise<Replayed[]> {
  const signal = onInterrupt()
  using progress = showProgress(out, { title: 'Events replayed', total: plans.length, unit: 'count' })
  const replayed: Replayed[] = []
  for (let from = 0; from < plans.length; from += SLICE) {
    signal.throwIfAborted()
    const slice = plans.slice(from, from + SLICE)
    const runs = await Promise.all(
      slice.map(({ event, workflows }) => store.replayEvent(event, workflows, systemClock.now())),
    )
    slice.forEach(({ event, workflows }, at) => {
      workflows.forEach((workflow, index) => {
        replayed.push({ event: event.id, workflow, run: runs[at]?.[index] ?? '' })
      })
    })
    progress.set(from + slice.length)
  }
  return replayed
}

const COLUMNS: Column<Replayed>[] = [
  { title: 'EVENT', value: ({ event }) => event, most: 60 },
  { title: 'WORKFLOW', value: ({ workflow }) => workflow },
  { title: 'RUN', value: ({ run }) => run, isId: true },
]
