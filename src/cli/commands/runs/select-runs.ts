import { type Command, Option } from '@commander-js/extra-typings'
import {
  findObstacle,
  RUN_STATUSES,
  type Run,
  type RunFilter,
  type RunOperation,
  type RunStatus,
} from '../../../core/runs/run.ts'
import { searchPage } from '../../../core/store/search.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { parseSince } from '../../input/parse-option.ts'
import { readStdin } from '../../input/read-source.ts'
import { commandClock } from '../../open/command-clock.ts'
import { findEventId } from '../../open/find-event.ts'

/** The options that select runs. */
export interface RunChoice {
  status?: RunStatus | undefined
  workflow?: string | undefined
  event?: string | undefined
  since?: number | undefined
  until?: number | undefined
  waitingForMe?: true | undefined
  error?: string | undefined
  step?: string | undefined
  group?: string | undefined
}

/** Adds the options that select runs. */
export function addRunChoice(command: Command) {
  return command
    .addOption(new Option('--status <status>', 'only runs with this status').choices(RUN_STATUSES))
    .option('--workflow <id>', 'only runs of the workflow with this id')
    .option('--event <id>', 'only runs caused by the event with this id, or its beginning')
    .option(
      '--since <when>',
      'only runs created since then: a duration before now, such as 1h, or an ISO 8601 time',
      parseSince,
    )
    .option('--until <when>', 'only runs created before then, in the same forms', parseSince)
    .option('--waiting-for-me', 'only runs that a person must let go on')
    .option('--error <text>', 'only failed runs whose error contains this text')
    .option('--step <name>', 'only failed runs whose step with this name or key failed')
    .option('--group <id>', 'only failed runs of this group of "upshot runs summary", grp_…')
}

/** The options as a filter of the store, with the whole id of an event. */
export async function findFilter(store: ReadStore, { event, ...choice }: RunChoice): Promise<RunFilter> {
  return toFilter(event === undefined ? choice : { ...choice, event: await findEventId(store, event) })
}

/** The options as a filter of the store. */
export function toFilter(choice: RunChoice): RunFilter {
  const { status, workflow, event, since, until, waitingForMe, error, step, group } = choice
  return {
    ...(status === undefined ? {} : { status }),
    ...(workflow === undefined ? {} : { workflow }),
    ...(event === undefined ? {} : { eventId: event }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(waitingForMe === undefined ? {} : { waitsForPerson: waitingForMe }),
    ...(error === undefined ? {} : { error }),
    ...(step === undefined ? {} : { step }),
    ...(group === undefined ? {} : { failureGroup: group }),
  }
}

/** The selection in words, such as `failed, of the workflow verify`. */
export function describeChoice(choice: RunChoice): string {
  const { status, workflow, event, since, until, waitingForMe, error, step, group } = choice
  const parts = [
    status,
    waitingForMe && 'waiting for a person',
    workflow && `of the workflow ${workflow}`,
    event && `of the event ${event}`,
    error === undefined ? undefined : `failed with "${error}"`,
    step && `failed in step ${step}`,
    group && `of the group ${group}`,
    since === undefined ? undefined : `created since ${new Date(since).toISOString()}`,
    until === undefined ? undefined : `created before ${new Date(until).toISOString()}`,
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? 'all' : parts.join(', ')
}

/** All selected runs that allow the operation, oldest first, however far it has to look. */
export async function findRuns(store: ReadStore, choice: RunChoice, operation: RunOperation): Promise<Run[]> {
  const now = commandClock.now()
  const filter = await findFilter(store, choice)
  const { items } = await searchPage((slice) => store.searchRuns(filter, slice), {
    limit: Number.MAX_SAFE_INTEGER,
    budgetMs: Number.POSITIVE_INFINITY,
    now: () => commandClock.now(),
  })
  return items.filter((run) => findObstacle(operation, run, now) === null).reverse()
}

/** The named ids; `-` stands for those on standard input. */
export async function readIds(named: readonly string[], what: string): Promise<string[]> {
  if (!named.includes('-')) return [...new Set(named)]
  const piped = (await readStdin(`ids of ${what}`)).split(/\s+/).filter((id) => id !== '')
  return [...new Set([...named.filter((id) => id !== '-'), ...piped])]
}
