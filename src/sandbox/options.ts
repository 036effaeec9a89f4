import type { FORMS, PLANS } from './state/live-settings.ts'

/** How a sandbox is started. Only `dir` has no default. */
export interface SandboxOptions {
  /** Where the sandbox keeps everything it knows; made if missing. */
  dir: string
  /** Where the three storages' directories are; default `<dir>/storages`. */
  storagesDir?: string
  /** Of the API, the control API and the account page; default 0, a free one. */
  port?: number
  /** Of the download host; default 0, a free one. */
  downloadPort?: number
  /**
   * Further `host:port` values to accept in `Host`, for a name that leads here from a container.
   * Default none.
   */
  hosts?: string[]
  /** Every random choice follows from it. Default 1. */
  seed?: number
  /** Default: what it was last time, at first `primary`. */
  form?: (typeof FORMS)[number]
  /** Default: what it was last time, at first `free`. */
  plan?: (typeof PLANS)[number]
  /** `manual` stands still until it is advanced. Default `real`. */
  clock?: 'real' | 'manual'
  /**
   * Where a manual clock stands on the very first start, in epoch milliseconds; default: the
   * machine's time.
   */
  startAt?: number
  /** Waits before each retry of a delivery; default 5 s, 30 s, 2 min, 10 min, 1 h, 6 h. */
  retryScheduleMs?: number[]
  /** How long a receiver may take, on the machine's clock; default 10 s. */
  deliveryTimeoutMs?: number
  /**
   * How often the directories are compared with the index, on the machine's clock; default 10 s.
   */
  scanEveryMs?: number
  /**
   * Whether to ask the operating system for hints of changes; without, the regular scan alone finds
   * them. Default true.
   */
  hints?: boolean
  /** Called once per thing worth a log line. Never given a key, a secret or a download URL. */
  log?: Log
}

export type Log = (line: { msg: string } & Record<string, unknown>) => void
