import { type Command, Option } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import {
  findObstacle,
  RUN_STATUSES,
  type Run,
  type RunFilter,
  type RunOperation,
  type RunStatus,
} from '../../../core/runs/run.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { systemClock } from '../../../core/time.ts'
import { parseSince } from '../../input/parse-option.ts'
import { readStdin } from '../../input/read-source.ts'

/** Runs that are read at a time. */
const PAGE = 500

/** The options that select runs. */
export interface RunChoice {
  status?: RunStatus | undefined
  workflow?: string | undefined
  event?: string | undefined
  since?: number | undefined
  until?: number | undefined
}

/** Adds the options that select runs. */
export function addRunChoice(command: Command) {
  return command
    .addOption(new Option('--status <status>', 'only runs with this status').choices(RUN_STATUSES))
    .option('--workflow <id>', 'only runs of the workflow with this id')
    .option('--event <id>', 'only runs caused by the event with this id, evt_…')
    .option(
      '--since <when>',
      'only runs created since then: a duration before now, such as 1h, or an ISO 8601 time',
      parseSince,
    )
    .option('--until <when>', 'only runs created before then, in the same forms', parseSince)
}

/** The options as a filter of the store. */
export function toFilter({ status, workflow, event, since, until }: RunChoice): RunFilter {
  return {
    ...(status === undefined ? {} : { status }),
    ...(workflow === undefined ? {} : { workflow }),
    ...(event === undefined ? {} : { eventId: event }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  }
}

/** The selection in words, such as `failed, of the workflow verify`. */
export function describeChoice({ status, workflow, event, since, until }: RunChoice): string {
  const parts = [
    status,
    workflow && `of the workflow ${workflow}`,
    event && `of the event ${event}`,
    since === undefined ? undefined : `created since ${new Date(since).toISOString()}`,
    until === undefined ? undefined : `created before ${new Date(until).toISOString()}`,
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? 'all' : parts.join(', ')
}

/** All selected runs that allow the operation, oldest first. */
export async function findRuns(store: ReadStore, choice: RunChoice, operation: RunOperation): Promise<Run[]> {
  const found: Run[] = []
  const now = systemClock.now()
  const filter = toFilter(choice)
  for (let before: string | undefined; ; ) {
    const page = await store.listRuns({ ...filter, limit: PAGE, ...(before === undefined ? {} : { before }) })
    found.push(...page.filter((run) => findObstacle(operation, run, now) === null))
    if (page.length < PAGE) return found.reverse()
    before = page.at(-1)?.id
  }
}

/** The named ids; `-` stands for those on standard input. */
export async function readIds(named: readonly string[], what: string): Promise<string[]> {
  if (!named.includes('-')) return [...new Set(named)]
  const piped = (await readStdin(`ids of ${what}`)).split(/\s+/).filter((id) => id !== '')
  return [...new Set([...named.filter((id) => id !== '-'), ...piped])]
}

/** The run with this id; throws `not_found`. */
export async function requireRun(store: ReadStore, id: string): Promise<Run> {
  const run = await store.findRun(id)
  if (run) return run
  throw new UpshotError('not_found', `There is no run ${id} in this data directory.`, {
    details: { fix: 'List the runs with "upshot runs list".' },
  })
}
