import type { Command } from '@commander-js/extra-typings'
import { findEvent } from '../../../admin/queries/find-event.ts'
import { UpshotError } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import type { EventRecord } from '../../../core/incoming/event.ts'
import type { EventSearch } from '../../../core/incoming/event-search.ts'
import { pickRoutes, planRuns } from '../../../core/incoming/route.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import type { Cli } from '../../command.ts'
import { countUpTo, parseSince, type Since } from '../../input/parse-option.ts'
import { commandClock } from '../../open/command-clock.ts'
import type { PersonStore } from '../../open/operations.ts'
import { performOperation } from '../../open/perform-operation.ts'
import { confirm } from '../../terminal/confirm.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { readIds } from '../runs/select-runs.ts'

/** Named events that are replayed in one commit. */
const SLICE = 100

/** The options that select events. */
interface Choice {
  workflow?: string | undefined
  account?: string | undefined
  type?: string | undefined
  path?: string | undefined
  since?: Since | undefined
  until?: Since | undefined
  perSecond?: number | undefined
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
    .option('--account <name>', 'account of the events')
    .option('--type <type>', 'select events of this type, or of a family such as file.*')
    .option('--path <path>', 'select events about this file; an * at its end is any rest')
    .option(
      '--since <when>',
      'select events received since then: a duration before now, such as 1h, or an ISO 8601 time',
      parseSince,
    )
    .option('--until <when>', 'select events received before then, in the same forms', parseSince)
    .option('--per-second <count>', 'the most selected events per second (default: 100)', countUpTo(10_000))
    .option('--plan <file>', 'let the run do what this plan of the event lists, and ask for all else')
    .option('--as <name>', 'approve the plan as this registered approver')
    .option('--key-file <file>', 'sign the approval of the plan with the private key in this file')
    .action((named, { plan, as, keyFile, ...choice }) =>
      project.withStore(async (store, config) => {
        const [event, another] = named
        if (plan !== undefined) {
          if (event === undefined || event === '-' || another !== undefined) throw describeLoosePlan()
          const { replayPlan } = await import('../safety/plan/replay-plan.ts')
          const { workflow, account } = choice
          return replayPlan({ out, project }, store, { config, event, workflow, account, plan, as, keyFile })
        }
        const { type, path, since, until } = choice
        const isSelected = [type, path, since, until].some((value) => value !== undefined)
        if (named.length > 0 === isSelected) throw describeMisuse()
        await requireWorkflow(store, choice.workflow)
        if (isSelected) return replaySelected({ out, project }, store, choice)
        const plans = await planReplays(store, await findNamed(store, named, choice), choice.workflow)
        const count = plans.reduce((sum, { workflows }) => sum + workflows.length, 0)
        const things = plans.map(({ event, workflows }) => describePlan(event, workflows))
        const will = describeWill(plans.length, count)
        if (out.given.dryRun && !(await confirm(out, { will, things }))) {
          return out.result({ dryRun: true, events: plans.length, runs: count }, () => [`This would ${will}.`])
        }
        const replayed = await replayAll(store, plans)
        out.result({ dryRun: false, events: plans.length, runs: replayed }, () => formatTable(replayed, COLUMNS, out))
      }),
    )
}

/** New runs of all events of the options, as a tracked operation, oldest first. */
async function replaySelected(
  { out, project: { operator } }: Pick<Cli, 'out' | 'project'>,
  store: PersonStore,
  choice: Choice,
): Promise<void> {
  const createdAt = commandClock.now()
  const { workflow, perSecond = null } = choice
  const routes = pickRoutes((await store.listRoutes()) ?? [], workflow === undefined ? undefined : [workflow])
  const filter = { ...readFilter(choice), until: Math.min(choice.until?.(createdAt) ?? createdAt, createdAt) }
  const id = newId('opr', createdAt)
  const plan = { id, kind: 'replay', filter, routes, operator, perSecond, isDryRun: false, createdAt } as const
  const describe = ({ total, runs }: { total: number; runs: number }) => describeWill(total, runs)
  await performOperation(out, store, { plan, words: { things: 'Events', done: 'replayed', describe } })
}

function describeWill(events: number, runs: number): string {
  const what = `${events} ${events === 1 ? 'event' : 'events'}`
  return `replay ${what} as ${runs} new ${runs === 1 ? 'run' : 'runs'}`
}

function describePlan({ id, type }: EventRecord, workflows: readonly string[]): string {
  return `${id}  ${type}  ${workflows.join(', ')}`
}

function readFilter({ account, type, path, since }: Choice): EventSearch {
  return {
    ...(account === undefined ? {} : { account }),
    ...(type === undefined ? {} : { type }),
    ...(path === undefined ? {} : { path }),
    ...(since === undefined ? {} : { since: since(commandClock.now()) }),
  }
}

function describeMisuse(): UpshotError {
  return new UpshotError('invalid_request', 'Give either ids of events or options that select them.', {
    details: {
      fix: 'For example: "upshot events replay evt_1", or "upshot events replay --type file.created --since 1h".',
    },
  })
}

function describeLoosePlan(): UpshotError {
  return new UpshotError('invalid_request', 'A plan is for one event. Name that event, and no other.', {
    details: { fix: 'For example: upshot events replay evt_1 --plan plan.json' },
  })
}

async function findNamed(store: ReadStore, named: readonly string[], { account }: Choice): Promise<EventRecord[]> {
  const ids = await readIds(named, 'events')
  return Promise.all(ids.map((id) => findEvent(store, { id, account })))
}

async function requireWorkflow(store: ReadStore, workflow: string | undefined): Promise<void> {
  if (workflow === undefined || (await store.listWorkflows()).some(({ id }) => id === workflow)) return
  throw new UpshotError('not_found', `There is no workflow "${workflow}".`, {
    details: { fix: 'List them with "upshot workflows list". The app registers them when it starts.' },
  })
}

/** The workflows for each event. Throws `conflict` for an event without. */
async function planReplays(
  store: ReadStore,
  events: readonly EventRecord[],
  workflow: string | undefined,
): Promise<Plan[]> {
  const routes = (await store.listRoutes()) ?? []
  return events.map((event) => {
    const matching = planRuns(event.type, routes)
    const workflows = workflow === undefined ? matching : matching.filter((id) => id === workflow)
    if (workflows.length > 0) return { event, workflows }
    const who = workflow === undefined ? 'No workflow runs' : `The workflow "${workflow}" does not run`
    throw new UpshotError('conflict', `${who} on events of type ${event.type}, such as ${event.id}.`, {
      details: { fix: 'See which types start which workflows: upshot workflows list' },
    })
  })
}

async function replayAll(store: PersonStore, plans: readonly Plan[]): Promise<Replayed[]> {
  const signal = onInterrupt()
  const replayed: Replayed[] = []
  for (let from = 0; from < plans.length; from += SLICE) {
    signal.throwIfAborted()
    const made = plans.slice(from, from + SLICE).map(async ({ event, workflows }) => {
      const runs = await store.replayEvent(event, workflows, commandClock.now())
      return workflows.map((workflow, index) => ({ event: event.id, workflow, run: runs[index] ?? '' }))
    })
    replayed.push(...(await Promise.all(made)).flat())
  }
  return replayed
}

const COLUMNS: Column<Replayed>[] = [
  { title: 'EVENT', value: ({ event }) => event, most: 60 },
  { title: 'WORKFLOW', value: ({ workflow }) => workflow },
  { title: 'RUN', value: ({ run }) => run, isId: true },
]
