import { type Command, Option } from '@commander-js/extra-typings'
import type { EffectFilter } from '../../../../core/store/safety/effects.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import { parseSince, readMoments, type Since } from '../../../input/parse-option.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { findRun } from '../../../open/find-run.ts'

/** The options that select rows of the ledger. */
interface FilterChoice {
  workflow?: string | undefined
  account?: string | undefined
  run?: string | undefined
  file?: string | undefined
  class?: EffectFilter['class'] | undefined
  outcome?: string | undefined
  since?: Since | undefined
  until?: Since | undefined
}

/** Adds the options that select rows of the ledger. */
export function addFilter(command: Command) {
  return command
    .option('--workflow <id>', 'only effects of the workflow with this id')
    .option('--account <name>', 'only effects on this account')
    .option('--run <id>', 'only effects of the run with this id, or its beginning')
    .option('--file <file>', 'only this path, such as /out/a.mov, or this target, such as storage_a:fil_1')
    .addOption(new Option('--class <class>', 'only deletes, writes, or words of people').choices(CLASSES))
    .option('--outcome <outcome>', 'only this outcome, such as deleted, changed or failed')
    .option('--since <when>', 'only since then: a duration before now, such as 30d, or an ISO 8601 time', parseSince)
    .option('--until <when>', 'only before then', parseSince)
}

const CLASSES = ['delete', 'write', 'guard'] as const

/** The filter that the options choose. The ledger also knows runs that are pruned. */
export async function findFilter(store: ReadStore, { file, run, ...rest }: FilterChoice): Promise<EffectFilter> {
  const runId = run === undefined ? undefined : ((await findRun(store, run))?.id ?? run)
  const given = { ...readMoments(rest, commandClock.now()), runId, ...(file === undefined ? {} : describeFile(file)) }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** A target, or the path in it: the ledger has both. */
export function describeFile(file: string): Pick<EffectFilter, 'path' | 'target'> {
  const [, path] = /^(?:storage_[abc]:)?(\/.*)$/s.exec(file) ?? []
  return path === undefined ? { target: file } : { path }
}
