import { given } from '../../../../admin/queries/read-query.ts'
import type { compareStarts } from '../../../../app/backtest/compare-starts.ts'
import type { CasePage, RunChoice } from '../../../../app/backtest/read-cases.ts'
import { UpshotError } from '../../../../core/errors.ts'
import type { Starts } from '../../../../core/safety/differences.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import type { Config } from '../../../../project/config/load-config.ts'
import { commandClock } from '../../../command-clock.ts'
import type { Project } from '../../../open/open-project.ts'
import { NO_STORE, type openCode } from '../open-code.ts'
import type { BacktestOptions } from './backtest-options.ts'

const WEEK_MS = 7 * 86_400_000

export interface Runs {
  config: Config
  workflow: string
  /** Asked by an isolated process while it previews. */
  store: Parameters<typeof openCode>[1]['store']
  pages: AsyncIterable<CasePage>
  /** The module of the workflow in production; null: it is not there. */
  file: string | null
  /** Of the workflow in production, or as the corpus was saved; null: it is not there. */
  starts: Starts | null
  /** The events of the time of the runs; null: a corpus has none. */
  events: Pick<ReadStore, 'listEvents'> | null
  stretch: Parameters<typeof compareStarts>[2]
}

/** Opens the database, or a corpus in its place, for as long as `use` takes. */
export async function withRuns(
  project: Project,
  named: string | undefined,
  options: BacktestOptions,
  use: (runs: Runs) => Promise<void>,
): Promise<void> {
  const { from, outputs = false } = options
  if (from !== undefined) return use(await openCorpus(project, from, named))
  const workflow = named ?? ''
  const { readCases } = await import('../../../../app/backtest/read-cases.ts')
  return project.withReads(async (store, config) => {
    const choice = chooseRuns(workflow, options)
    const pages = readCases(store, choice, { withOutputs: outputs })
    const known = (await store.listWorkflows()).find(({ id }) => id === workflow)
    const starts = known === undefined ? null : { ...known, limits: null }
    const stretch = { ...choice, until: choice.until ?? commandClock.now() }
    return use({ config, workflow, store, pages, file: known?.file ?? null, starts, events: store, stretch })
  })
}

async function openCorpus(project: Project, file: string, named: string | undefined): Promise<Runs> {
  const { readCorpus } = await import('../../../../app/backtest/corpus/corpus-file.ts')
  const { head, pages } = readCorpus(file)
  const { workflow, starts, savedAt } = head
  if (named !== undefined && workflow !== named) {
    throw new UpshotError('invalid_request', `${file} has runs of "${workflow}", not of "${named}".`, {
      fix: `Name its workflow, or none: "upshot backtest --from ${file}".`,
    })
  }
  const config = await project.load({}, { isSandbox: true })
  const stretch = { since: savedAt, until: savedAt }
  return { config, workflow, store: NO_STORE, pages, file: null, starts, events: null, stretch }
}

/** The runs that the options name; those of a week without `since`. */
export function chooseRuns(
  workflow: string,
  { since, until, type, account, sample, limit }: Partial<BacktestOptions>,
): RunChoice {
  const now = commandClock.now()
  const moments = { since: since?.(now) ?? now - WEEK_MS, until: until?.(now) }
  return given({ workflow, ...moments, type, account, sample, limit })
}
