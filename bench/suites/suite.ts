import type { DeliveryFile } from '../deliveries.ts'
import type { LoadGenerator } from '../load/load-generator.ts'
import type { Target } from '../processes/child.ts'
import type { Patience } from '../report/patience.ts'
import type { Result } from '../report/result.ts'
import type { RoundPlan } from '../report/rounds.ts'

/** Everything that a suite works with. */
export interface Bench {
  /** Folder for databases, on the disk whose fsync time is in the report. */
  folder: string
  /** Fewer and shorter rounds. */
  isQuick: boolean
  /** One round, to see that each figure can be measured: nothing warms up or settles. */
  isOnce: boolean
  /** The key of tables that say how much is measured. With `once`, as little as gives a figure. */
  size: 'once' | 'quick' | 'full'
  /** Rows of the effect ledger; null: as many as the run is long. */
  ledgerRows: number | null
  /** Null in a full run. A quick one fails by no goal, so that no more have to settle it. */
  quickRounds: RoundPlan | null
  load: LoadGenerator
  /** Made at the first access. */
  readonly deliveries: DeliveryFile
  /** Starts a module of `targets/` in a process of its own. */
  startTarget: (file: string) => Target
  patience: Patience
  /** Prints a line. */
  say: (line: string) => void
}

export interface Suite {
  /** Names of its results, from which `--only` selects the suites to run. */
  names: readonly string[]
  /** Left out of a quick run, unless `--only` names it. */
  isSlow?: boolean
  /** Installs programs of others: left out unless `--rivals` asks for it. */
  isForeign?: boolean
  run(bench: Bench): Promise<Result[]>
}
