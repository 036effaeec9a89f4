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
import { parseSince } from '../../input/parse-option.ts'
import { readStdin } from '../../input/read-source.ts'

/** Rows that are read at a time, so that any number may be chosen. */
const PAGE = 500

/** Options that choose runs. */
export interface RunChoice {
  status?: RunStatus | undefined
  workflow?: string | undefined
  event?: string | undefined
  since?: number | undefined
  until?: number | undefined
}

/** Adds the options that choose runs. */
export function addRunChoice(command: Command) {
  return command
    .addOption(new Option('--status <status>', 'only runs in this state').choices(RUN_STATUSES))
    .option('--workflow <id>', 'only runs of this workflow')
    .option('--event <id>', 'only runs that this event caused')
    .option('--since <when>', 'only runs made since then, such as 1h or 2026-06-01', parseSince)
    .option('--until <when>', 'only runs made before then', parseSince)
}

export function toFilter({ status, workflow, event, since, until }: RunChoice): RunFilter {
  return {
    ...(status === undefined ? {} : { status }),
    ...(workflow === undefined ? {} : { workflow }),
    ...(event === undefined ? {} : { eventId: event }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  }
}

/** Such as `failed, of the workflow verify`; for a person who is asked. */
export function describeChoice({ status, workflow, event, since, until }: RunChoice): string {
  const parts = [
    status,
    workflow && `of the workflow ${workflow}`,
    event && `of the event ${event}`,
    since === undefined ? undefined : `made since ${new Date(since).toISOString()}`,
    until === undefined ? undefined : `made before ${new Date(until).toISOString()}`,
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? 'all there are' : parts.join(', ')
}

/** Every run that fits, oldest first, and that the operation can be done to. */
export async function findRuns(store: ReadStore, choice: RunChoice, operation: RunOperation): Promise<Run[]> {
  const found: Run[] = []
  const filter = toFilter(choice)
  for (let before: string | undefined; ; ) {
    const page = await store.listRuns({ ...filter, limit: PAGE, ...(before === undefined ? {} : { before }) })
    found.push(...page.filter((run) => findObstacle(operation, run) === null))
    if (page.length < PAGE) return found.reverse()
    before = page.at(-1)?.id
  }
}

/** The ids that are named, `-` standing for those on standard input. */
export async function readIds(named: readonly string[], what: string): Promise<string[]> {
  if (!named.includes('-')) return [...new Set(named)]
  const piped = (await readStdin(`ids of ${what}`)).split(/\s+/).filter((id) => id !== '')
  return [...new Set([...named.filter((id) => id !== '-'), ...piped])]
}

/** Throws `not_found` that says how to find one. */
export async function requireRun(store: ReadStore, id: string): Promise<Run> {
  const run = await store.findRun(id)
  if (run) return run
  throw new UpshotError('not_found', `There is no run ${id} in this data directory.`, {
    details: { fix: 'List the runs with "upshot runs list".' },
  })
}
