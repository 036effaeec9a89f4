import type { compareStarts } from '../../../../app/backtest/compare-starts.ts'
import type { CasePage, RunChoice } from '../../../../app/backtest/read-cases.ts'
import { UpshotError } from '../../../../core/errors.ts'
import type { Group, Starts } from '../../../../core/safety/difference.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import type { Config } from '../../../../project/config/load-config.ts'
import { readMoments, type Since } from '../../../input/parse-option.ts'
import { commandClock } from '../../../open/command-clock.ts'
import type { Project } from '../../../open/open-project.ts'
import type { openCode } from './open-code.ts'

const WEEK_MS = 7 * 86_400_000
/** Options that choose runs in a database. A corpus is taken as a whole. */
const OF_DATABASE = ['since', 'until', 'type', 'account', 'sample', 'limit'] as const

/** The runs that are played. */
export interface Runs {
  config: Config
  /** Asked by a room while it plays. */
  store: Parameters<typeof openCode>[1]['store']
  pages: AsyncIterable<CasePage>
  /** Of the workflow in production, or as the corpus was saved; null: it is not there. */
  starts: Starts | null
  /** Compares what starts two versions of it, over the time of the runs. */
  compareStarts: (sides: Parameters<typeof compareStarts>[1]) => Promise<Group[]>
}

type Chosen = { [Name in keyof Omit<RunChoice, 'workflow' | 'since' | 'until'>]?: RunChoice[Name] | undefined } & {
  since?: Since | undefined
  until?: Since | undefined
}

interface Wanted extends Chosen {
  workflow: string
  /** A file of `upshot corpus save`; undefined: the database. */
  corpus: string | undefined
  outputs: boolean
  reads: 'recorded' | 'live'
}

/** Opens the database, or a corpus in its place, for as long as `use` takes. */
export async function withRuns(project: Project, wanted: Wanted, use: (runs: Runs) => Promise<void>): Promise<void> {
  const { corpus, workflow, outputs, reads, ...chosen } = wanted
  if (corpus !== undefined) return use(await openCorpus(project, { ...wanted, corpus }))
  const { readCases } = await import('../../../../app/backtest/read-cases.ts')
  const { compareStarts } = await import('../../../../app/backtest/compare-starts.ts')
  return project.withReads(async (store, config) => {
    const choice = toChoice(workflow, chosen)
    const pages = readCases(store, choice, { withOutputs: outputs })
    const known = (await store.listWorkflows()).find(({ id }) => id === workflow)
    const starts = known === undefined ? null : { ...known, limits: null }
    const stretch = { ...choice, until: choice.until ?? commandClock.now() }
    return use({ config, store, pages, starts, compareStarts: (sides) => compareStarts(store, sides, stretch) })
  })
}

async function openCorpus(project: Project, { corpus, workflow, reads, ...chosen }: Wanted & { corpus: string }) {
  const named = OF_DATABASE.filter((name) => chosen[name] !== undefined)
  const refused = [...named.map((name) => `--${name}`), ...(reads === 'live' ? ['--reads live'] : [])]
  if (refused.length > 0) {
    throw new UpshotError(
      'invalid_request',
      `A corpus is played as a whole, so ${refused.join(', ')} cannot be given.`,
      {
        details: { fix: 'Leave it out, or choose the runs as you save the corpus.' },
      },
    )
  }
  const { readCorpus, readCorpusHead } = await import('../../../../app/backtest/corpus/corpus-file.ts')
  const head = await readCorpusHead(corpus)
  if (head.workflow !== workflow) {
    throw new UpshotError('invalid_request', `${corpus} has runs of "${head.workflow}", not of "${workflow}".`, {
      details: { fix: `Name its workflow: "upshot backtest ${head.workflow} --corpus ${corpus}".` },
    })
  }
  const config = await project.load({}, { isSandbox: true })
  const { compareStarts } = await import('../../../../app/backtest/compare-starts.ts')
  const stretch = { since: head.savedAt, until: head.savedAt }
  return {
    ...{ config, store: NO_STORE, pages: readCorpus(corpus), starts: head.starts },
    compareStarts: (sides: Parameters<typeof compareStarts>[1]) => compareStarts(null, sides, stretch),
  }
}

/** A corpus has everything that a play asks for. */
const NO_STORE: Pick<
  ReadStore,
  'listDeletes' | 'listRunEvents' | 'readOutput' | 'listRuns' | 'listSteps' | 'listAccounts'
> = {
  listDeletes: async () => [],
  listRunEvents: async () => [],
  listRuns: async () => [],
  listSteps: async () => [],
  listAccounts: async () => [],
  readOutput: async () => {
    throw new Error('A corpus has each result in its row.')
  },
}

function toChoice(workflow: string, chosen: Chosen): RunChoice {
  const { since = commandClock.now() - WEEK_MS, ...rest } = readMoments(chosen, commandClock.now())
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  return { workflow, since, ...given }
}
