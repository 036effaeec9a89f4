import { type Command, Option } from '@commander-js/extra-typings'
import { z } from 'zod'
import { runFilter } from '../../../admin/contract/resources/runs.ts'
import { countUpTo } from '../../input/parse-option.ts'
import { readStdin } from '../../input/read-source.ts'
import { addSchemaOptions, readSchemaOptions } from '../../operate/schema-options.ts'

const FILTER = z.object(runFilter)

/** The selection of the options, by the names of the API. */
type RunChoice = z.input<typeof FILTER>

/** How the fields of the filter are named on the command line. */
export const RUN_NAMES = { flags: { needsPerson: 'waiting-for-me' }, without: ['q', 'parent', 'resolved'] }

/** Adds the two options for failed runs that a person has resolved, or nobody. */
export function addResolved(command: Command): void {
  command
    .addOption(new Option('--resolved', 'only failed runs that a person has resolved').conflicts('unresolved'))
    .option('--unresolved', 'only failed runs that nobody has resolved')
}

export function readResolved({ resolved, unresolved }: Record<string, unknown>): Pick<RunChoice, 'resolved'> {
  if (resolved === undefined && unresolved === undefined) return {}
  return { resolved: resolved === true ? 'true' : 'false' }
}

const TARGET_NAMES = { ...RUN_NAMES, without: [...RUN_NAMES.without, 'origin'] }

/** Adds what names or selects the runs of an operation, and the pace of a selection. */
export function addRunTargets(command: Command) {
  addSchemaOptions(command, FILTER, TARGET_NAMES)
  addResolved(command)
  return command
    .argument('[ids...]', 'ids of the runs, run_…, or their beginnings; or - to read ids from standard input')
    .option('--per-second <count>', 'the most selected runs per second', countUpTo(10_000))
}

export function readRunChoice(options: Record<string, unknown>): RunChoice {
  return { ...readSchemaOptions(FILTER, options, TARGET_NAMES), ...readResolved(options) }
}

/** The selection in words, such as `failed, of the workflow verify`. */
export function describeChoice(choice: RunChoice): string {
  const { status, workflow, tag = [], event, since, until, needsPerson, error, step, group, resolved } = choice
  const tags = [tag].flat()
  const parts = [
    status,
    needsPerson && 'waiting for a person',
    workflow && `of the workflow ${workflow}`,
    tags.length > 0 && `with the tag ${tags.join(' and ')}`,
    event && `of the event ${event}`,
    error === undefined ? undefined : `failed with "${error}"`,
    step && `failed in step ${step}`,
    group && `of the group ${group}`,
    resolved && (resolved === 'true' ? 'resolved' : 'not resolved'),
    since && `created since ${since}${/^\d{4}-/.test(since) ? '' : ' ago'}`,
    until && `created before ${until}${/^\d{4}-/.test(until) ? '' : ' ago'}`,
  ].filter((part) => part !== undefined && part !== false)
  return parts.length === 0 ? 'all' : parts.join(', ')
}

/** The named ids; `-` stands for those on standard input. */
export async function readIds(named: readonly string[], what: string): Promise<string[]> {
  if (!named.includes('-')) return [...new Set(named)]
  const piped = (await readStdin(`ids of ${what}`)).split(/\s+/).filter((id) => id !== '')
  return [...new Set([...named.filter((id) => id !== '-'), ...piped])]
}
