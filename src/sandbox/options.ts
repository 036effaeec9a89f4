import type { FORMS, PLANS } from './state/settings.ts'

/** The options of a sandbox. Only `dir` is required. */
export interface SandboxOptions {
  /** Directory of the sandbox's database and snapshots; created if missing. */
  dir: string
  /** Directory of the three storages' folders. Default `<dir>/storages`. */
  storagesDir?: string
  /** Port of the API, the control API and the account pages. Default 0: a free one. */
  port?: number
  /** Port of the download host. Default 0: a free one. */
  downloadPort?: number
  /**
   * Host that it listens on, and that its URLs name: `0.0.0.0` for every address, as in a container
   * with published ports. Everybody who reaches it may do everything. Default `127.0.0.1`: this
   * machine.
   */
  host?: string
  /**
   * More accepted `Host` values, as `host:port`, such as a container's name for this machine.
   * Default none.
   */
  hosts?: string[]
  /** Seed of every random choice. Default 1. */
  seed?: number
  /** Form of replies. Default: the saved setting, `primary` at first. */
  form?: (typeof FORMS)[number]
  /** Plan with its rate limit. Default: the saved setting, `free` at first. */
  plan?: (typeof PLANS)[number]
  /**
   * `real` follows the machine's time; `manual` stands still until it is advanced. Default `real`.
   */
  clock?: 'real' | 'manual'
  /** Time of a new manual clock, in epoch milliseconds. Default: the machine's time. */
  startAt?: number
  /**
   * Waits before each retry of a delivery, in milliseconds. Default 5 s, 30 s, 2 min, 10 min, 1 h,
   * 6 h.
   */
  retryScheduleMs?: number[]
  /** Time limit of a delivery in milliseconds of the machine's clock. Default 10,000. */
  deliveryTimeoutMs?: number
  /**
   * Interval of the full scans of the directories, in milliseconds of the machine's clock. Default
   * 10,000.
   */
  scanEveryMs?: number
  /**
   * Whether to watch the directories for changes. Default true; without, only scans find changes.
   */
  hints?: boolean
  /**
   * Receives each log line. No line contains a key, a secret or a download URL. Default: no log.
   */
  log?: Log
}

export type Log = (line: { msg: string } & Record<string, unknown>) => void
