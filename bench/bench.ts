import type { Target } from './child.ts'
import type { DeliveryFile } from './deliveries.ts'
import type { LoadGenerator } from './load.ts'
import type { Patience } from './patience.ts'
import type { Result } from './result.ts'

/** What every suite is given. */
export interface Bench {
  /** For databases; on the disk whose fsync is in the report. */
  folder: string
  /** Fewer and shorter rounds. */
  isQuick: boolean
  load: LoadGenerator
  /** Made when they are first asked for. */
  readonly deliveries: DeliveryFile
  startTarget: (file: string) => Target
  patience: Patience
  /** Writes a line for the reader. */
  say: (line: string) => void
}

export interface Suite {
  /** The results it gives, so that those asked for decide what runs. */
  names: readonly string[]
  run(bench: Bench): Promise<Result[]>
}
