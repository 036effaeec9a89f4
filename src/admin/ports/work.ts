import type { WorkDone } from '../contract/route.ts'

export interface Bytes {
  type: string
  /** Name of the file that a browser saves. */
  name: string
  /** Null where it is not known before the end. */
  size: number | null
  chunks: AsyncIterable<Uint8Array | string>
}

export interface Work {
  signal: AbortSignal
  tell: (work: WorkDone) => void
}
