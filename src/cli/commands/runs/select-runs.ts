import { type Command, Option } from '@commander-js/extra-typings'
import { RUN_STATUSES, type RunFilter, type RunStatus } from '../../../core/runs/run.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { countUpTo, parseSince, type Since } from '../../input/parse-option.ts'
import { readStdin } from '../../input/read-source.ts'
import { commandClock } from '../../open/command-clock.ts'
import { findEventId } from '../../open/find-event.ts'

/** The options that select runs. */
export interface RunChoice {
  status?: RunStatus | undefined
  workflow?: string | undefined
  event?: string | undefined
  since?: Since | undefined
  until?: Since | undefined
  waitingForMe?: true | undefined
  error?: string | undefined
  step?: string | undefined
  group?: string | undefined
  resolved?: true | undefined
  unresolved?: true | undefined
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
    .addOption(new Option('--resolved', 'only failed runs that a person has resolved').conflicts('unresolved'))
    .option('--unresolved', 'only failed runs that nobody has resolved')
}

/** Adds what names or selects the runs of an operation, and the pace of a selection. */
export function addRunTargets(command: Command) {
  return addRunChoice(command)
    .argument('[ids...]', 'ids of the runs, run_…, or their beginnings; or - to read ids from standard input')
    .option('--per-second <count>', 'the most selected runs per second', countUpTo(10_000))
}

/** The options as a filter of the store, with the whole id of an event. */
export async function findFilter(store: ReadStore, { event, ...choice }: RunChoice): Promise<RunFilter> {
  return toFilter(event === undefined ? choice : { ...choice, event: await findEventId(store, event) })
}

/** The options as a filter of the store. */
export function toFilter(choice: RunChoice): RunFilter {
  const { status, workflow, event, since, until, waitingForMe, error, step, group, resolved, unresolved } = choice
  return {
    ...(status === undefined ? {} : { status }),
    ...(workflow === undefined ? {} : { workflow }),
    ...(event === undefined ? {} : { eventId: event }),
    ...(since === undefined ? {} : { since: since(commandClock.now()) }),
    ...(until === undefined ? {} : { until: until(commandClock.now()) }),
    ...(waitingForMe === undefined ? {} : { waitsForPerson: waitingForMe }),
    ...(error === undefined ? {} : { error }),
    ...(step === undefined ? {} : { step }),
    ...(group === undefined ? {} : { failureGroup: group }),
    ...(resolved ? { resolved: true } : unresolved ? { resolved: false } : {}),
  }
}

/** The selection in words, such as `failed, of the workflow verify`. */
export function describeChoice(choice: RunChoice): string {
  const { status, workflow, event, since, until, waitingForMe, error, step, group, resolved, unresolved } = choice
  const parts = [
    status,
    waitingForMe && 'waiting for a person',
    workflow && `of the workflow ${workflow}`,
    event && `of the event ${event}`,
    error === undefined ? undefined : `failed with "${error}"`,
    step && `failed in step ${step}`,
    group && `of the group ${group}`,
    resolved && 'resolved',
    unresolved && 'not resolved',
    since === undefined ? undefined : `created since ${new Date(since(commandClock.now())).toISOString()}`,
    until === undefined ? undefined : `created before ${new Date(until(commandClock.now())).toISOString()}`,
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? 'all' : parts.join(', ')
}

/** The named ids; `-` stands for those on standard input. */
export async function readIds(named: readonly string[], what: string): Promise<string[]> {
  if (!named.includes('-')) return [...new Set(named)]
  const piped = (await readStdin(`ids of ${what}`)).split(/\s+/).filter((id) => id !== '')
  return [...new Set([...named.filter((id) => id !== '-'), ...piped])]
}
