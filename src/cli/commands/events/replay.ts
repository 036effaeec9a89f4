import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import type { EventRecord } from '../../../core/incoming/event.ts'
import { planRuns } from '../../../core/incoming/route.ts'
import type { EventFilter } from '../../../core/store/events.ts'
import type { ReadStore, Store } from '../../../core/store/store.ts'
import { systemClock } from '../../../core/time.ts'
import { parseSince } from '../../input/parse-option.ts'
import { withStore } from '../../open/open-project.ts'
import { confirm } from '../../terminal/confirm.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import type { Output } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { readIds } from '../runs/select-runs.ts'

const PAGE = 500
const SLICE = 100

interface Choice {
  workflow?: string | undefined
  account?: string | undefined
  type?: string | undefined
  since?: number | undefined
  until?: number | undefined
}

/** An event with the workflows that are to run on it once more. */
interface Plan {
  event: EventRecord
  workflows: string[]
}

interface Replayed {
  event: string
  workflow: string
  run: string
}

/**
 * `upshot events replay <id…|->`: new runs of events that are stored; the events stay what they
 * are.
 */
export function define(command: Command, out: Output): void {
  command
    .argument('[ids...]', 'the events, evt_…, or - for ids on standard input')
    .option('--workflow <id>', 'only this workflow (default: all that run on the type of the event)')
    .option('--account <name>', 'the account, where an id is known in several')
    .option('--type <type>', 'choose events of this type')
    .option('--since <when>', 'choose events received since then, such as 1h or 2026-06-01', parseSince)
    .option('--until <when>', 'choose events received before then', parseSince)
    .action((named, choice) =>
      withStore(async (store) => {
        const isChosen = [choice.type, choice.since, choice.until].some((value) => value !== undefined)
        if (named.length > 0 === isChosen) throw describeMisuse()
        const events = isChosen ? await findEvents(store, choice) : await findNamed(store, named, choice)
        const plans = await planReplays(store, events, { workflow: choice.workflow, isStrict: !isChosen })
        const count = plans.reduce((sum, { workflows }) => sum + workflows.length, 0)
        const will = `replay ${plans.length} ${plans.length === 1 ? 'event' : 'events'} as ${count} new ${count === 1 ? 'run' : 'runs'}`
        const things = plans.map(({ event, workflows }) => `${event.id}  ${event.type}  ${workflows.join(', ')}`)
        const may = (!isChosen && !out.given.dryRun) || count === 0 || (await confirm(out, { will, things }))
        if (!may) return out.result({ dryRun: true, events: plans.length, runs: count }, () => [`This would ${will}.`])
        const replayed = await replayAll(out, store, plans)
        out.result({ dryRun: false, events: plans.length, runs: replayed }, () =>
          formatTable(replayed, COLUMNS, out.paint),
        )
        if (count === 0) out.note('No event was chosen that a workflow runs on.')
      }),
    )
}

function describeMisuse(): UpshotError {
  return new UpshotError('invalid_request', 'Name events by their ids, or choose them by options, one of the two.', {
    details: { fix: 'Write for example "upshot events replay --type file.created --since 1h", or name an event.' },
  })
}

async function findNamed(store: ReadStore, named: readonly string[], { account }: Choice): Promise<EventRecord[]> {
  const ids = await readIds(named, 'events')
  return Promise.all(ids.map((id) => findOne(store, id, account)))
}

async function findOne(store: ReadStore, id: string, account: string | undefined): Promise<EventRecord> {
  const known = (await store.findEvents(id)).filter((event) => account === undefined || event.account === account)
  const [event] = known
  if (event && known.length === 1) return event
  if (!event) {
    throw new UpshotError(
      'not_found',
      `There is no event ${id}${account === undefined ? '' : ` in the account ${account}`}.`,
      {
        details: { fix: 'List the events with "upshot events list".' },
      },
    )
  }
  const accounts = known.map((each) => each.account).join(', ')
  throw new UpshotError('invalid_request', `The event ${id} is known in several accounts: ${accounts}.`, {
    details: { fix: 'Choose one of them with --account.' },
  })
}

/** Oldest first. */
async function findEvents(store: ReadStore, { account, type, since, until }: Choice): Promise<EventRecord[]> {
  const filter: EventFilter = {
    ...(type === undefined ? {} : { type }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  }
  const found: EventRecord[] = []
  for (let before: number | undefined; ; ) {
    const page = await store.listEvents({ ...filter, limit: PAGE, ...(before === undefined ? {} : { before }) })
    found.push(...page.filter((event) => account === undefined || event.account === account))
    if (page.length < PAGE) return found.reverse()
    before = page.at(-1)?.seq
  }
}

/**
 * Strict: a named event that nothing runs on, or whose body is pruned, is an error; a chosen one is
 * left out.
 */
async function planReplays(
  store: ReadStore,
  events: readonly EventRecord[],
  { workflow, isStrict }: { workflow: string | undefined; isStrict: boolean },
): Promise<Plan[]> {
  const routes = (await store.listRoutes()) ?? []
  if (workflow !== undefined && !(await store.listWorkflows()).some(({ id }) => id === workflow)) {
    throw new UpshotError('not_found', `There is no workflow "${workflow}".`, {
      details: { fix: 'List them with "upshot workflows list". The app makes them known when it starts.' },
    })
  }
  return events.flatMap((event) => {
    const matching = planRuns(event.type, routes)
    const workflows = workflow === undefined ? matching : matching.filter((id) => id === workflow)
    if (workflows.length > 0 && (isStrict || event.body !== '')) return [{ event, workflows }]
    if (!isStrict) return []
    const who = workflow === undefined ? 'No workflow runs' : `The workflow "${workflow}" does not run`
    throw new UpshotError('conflict', `${who} on events of the type ${event.type}, as ${event.id} is.`, {
      details: { fix: 'See which types start which workflows: upshot workflows list' },
    })
  })
}

async function replayAll(out: Output, store: Store, plans: readonly Plan[]): Promise<Replayed[]> {
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
  { title: 'RUN', value: ({ run }) => run },
]
