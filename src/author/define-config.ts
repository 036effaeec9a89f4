import type { Duration } from '../core/time.ts'

/**
 * What `config/upshot.config.ts` may say. Secrets and addresses come from the environment, never
 * from here.
 */
export interface ConfigFile {
  /** Folder of the workflow modules, from the project's root. Default `workflows`. */
  workflows?: string
  /** Runs at work at the same time. Default 100. */
  slots?: number
  /** How long a stop waits for steps at work. Default 10s. */
  drain?: Duration
  /**
   * Where the service reaches the receiver, such as `https://hooks.example.com`; what prints an
   * endpoint's address uses it.
   */
  publicUrl?: string
  receive?: {
    /** Largest body of a delivery. Default 1 MiB. */
    bodyBytes?: number
    /**
     * Deliveries whose body is here and that wait for their commit before more are answered 503.
     * Default 1,000.
     */
    inFlight?: number
    /** Bytes of all bodies that are here and not yet committed. Default 64 MiB. */
    bytesInFlight?: number
    /** Open connections; one more is closed at once. Default 5,000. */
    connections?: number
    /**
     * Deliveries to one endpoint a second for long, and at once, before more are answered 503.
     * Default 20,000 and 40,000.
     */
    endpointPerSecond?: number
    endpointBurst?: number
    /**
     * The same for deliveries from one address. Behind a proxy all of them come from one. Default
     * 20,000 and 40,000.
     */
    addressPerSecond?: number
    addressBurst?: number
  }
  /**
   * How old things may get before they are removed, as durations; `forever` keeps them. An event
   * stays known for ever.
   */
  retention?: {
    /**
     * Runs that completed or were skipped, from their end on, with their steps and ticks. Default
     * 30d.
     */
    runs?: Duration
    /** Runs that failed or were canceled. Default 90d. */
    failures?: Duration
    /** Ledger rows of refused deliveries. Default 7d. */
    refusals?: Duration
    /** The other rows of the ledger. Default 90d. */
    deliveries?: Duration
    /**
     * Bodies of events that no unfinished run needs; without its body an event cannot be replayed.
     * Default 90d.
     */
    payloads?: Duration
  }
}

/** Checks nothing yet: it gives the file its types. */
export function defineConfig(config: ConfigFile): ConfigFile {
  return config
}
