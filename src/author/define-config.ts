import type { AlertKind } from '../core/alerts/alert-rule.ts'
import type { Duration } from '../core/time.ts'
import type { RunLimits, ScopeGuard, WorkflowGuard } from './limits.ts'

/** How a storage is compared with the events of its account. */
export interface ReconcileOptions {
  /** Folder to list, absolute. Default `/`. */
  path?: string
  /** Whether the folders below are listed, too. Default true. */
  recursive?: boolean
  /** Time from the beginning of a sweep to the beginning of the next, 1m or more. Default 6h. */
  every?: Duration
  /** Share of the plan's requests a minute, `0.1%` to `100%`, for this storage. Default `10%`. */
  budget?: number | string
  /**
   * Age below which no event counts as lost. It has to be longer than the service goes on trying
   * to deliver, and at most 30d. Default 8h.
   */
  grace?: Duration
  /**
   * `report`: tells of lost events. `events`: makes them up, too, where `fromFile` of their
   * `defineEvent` says how. Default `report`.
   */
  repair?: 'report' | 'events'
}

/**
 * The content of `config/upshot.config.ts`. Every setting is optional; one that is not known or not
 * valid stops the app with `invalid_config`.
 *
 * Secrets and the service's address come from the environment, never from here.
 */
export interface ConfigFile {
  /** Folder of the workflow modules, relative to the project's root. Default `workflows`. */
  workflows?: string
  /**
   * Runs that execute at the same time, 1 to 10,000; sleeping and waiting ones do not count.
   * Default 100.
   */
  slots?: number
  /** Time that a stopping app gives its running steps. Default 10s. */
  drain?: Duration
  /** Bounds for the code of workflows, which runs on a thread of its own. */
  engine?: {
    /**
     * Time for which code may block the engine's thread, 1s or more. Then the thread is ended, and
     * another one goes on. Default 10s.
     */
    hang?: Duration
    /**
     * Bytes of the engine's JavaScript heap, 64 MiB to 1 TiB, and as many again for the buffers
     * beside it. An engine that needs more is ended. Default 1 GiB (1,073,741,824).
     */
    heapBytes?: number
    /**
     * Bytes of the whole process, 128 MiB or more, native code included. An engine that takes more
     * is ended. Default: 90 % of the memory of its container, or of the machine.
     */
    memoryBytes?: number
  }
  /** Bounds on each run whose workflow sets none. */
  limits?: RunLimits
  /**
   * Address at which the service reaches the receiver, such as `https://hooks.example.com`. It must
   * be https, except on this machine.
   *
   * Commands that print an endpoint's address use it. Default: the address that the receiver
   * listens on.
   */
  publicUrl?: string
  /** Limits of the receiver. */
  receive?: {
    /**
     * Largest body of a delivery in bytes, 1 KiB to 100 MiB; a larger one is answered 413. Default
     * 1 MiB (1,048,576).
     */
    bodyBytes?: number
    /**
     * Deliveries that are read but not committed, 1 to 100,000; beyond, new ones are answered 503.
     * Default 1,000.
     */
    inFlight?: number
    /**
     * Bytes of all bodies that are read but not committed, 1 MiB to 16 GiB, at least `bodyBytes`.
     * Default 64 MiB (67,108,864).
     */
    bytesInFlight?: number
    /** Open connections, 1 to 1,000,000; further ones are closed at once. Default 5,000. */
    connections?: number
    /**
     * Part of the connections and of the bytes in flight that one IP address may hold, 0.01 to 1.
     * Behind a proxy, which counts as one address, give it 1. Default 0.5.
     */
    addressShare?: number
    /**
     * Bytes of a body that are to arrive each second, 1 to 1 MiB. A sender that stays below for
     * three seconds is cut off. Default 4,096.
     */
    bodyBytesPerSecond?: number
    /**
     * Steady rate of deliveries to one endpoint, per second, up to 1,000,000; more are answered
     * 503. Default 20,000.
     */
    endpointPerSecond?: number
    /**
     * Deliveries to one endpoint at once, above the steady rate, 1 to 1,000,000. Default 40,000.
     */
    endpointBurst?: number
    /**
     * Steady rate of deliveries from one IP address, per second, up to 1,000,000; more are answered
     * 503. A proxy counts as one address. Default 20,000.
     */
    addressPerSecond?: number
    /**
     * Deliveries from one IP address at once, above the steady rate, 1 to 1,000,000. Default
     * 40,000.
     */
    addressBurst?: number
  }
  /** The calls of the Files API. */
  files?: {
    /**
     * Requests of an account that may start at once, where its plan allows more than a minute's; 1
     * or more. The next ones wait until time has made up for it. A number is for every account, an
     * object for the accounts that it names. Default: none.
     */
    burst?: number | Record<string, number>
  }
  /**
   * Storages whose files are compared with the events: what was lost is found. By storage, such as
   * `storage_a`, or by account and storage, such as `acme/storage_a`. Default: none.
   */
  reconcile?: Record<string, ReconcileOptions>
  /** The admin server, with the dashboard and the API. */
  admin?: {
    /** Address that it listens on. Default `127.0.0.1`; any other needs `url`. */
    host?: string
    /**
     * Address at which browsers reach it, such as `https://ops.example.com`. It must be https,
     * except on this machine. Default: loopback only.
     */
    url?: string
    /** Prefix of every path, such as `/ops`. Default: none. */
    basePath?: string
    /** Whether `/metrics` needs a token. Default `token`; `open` is for scrapers on loopback. */
    metrics?: 'token' | 'open'
    /** Users that a proxy in front has logged in. Default: none. */
    proxy?: {
      /** Header with the name of the user, such as `X-Forwarded-User`. */
      header: string
      /** IP addresses of the proxy; the header is ignored in requests from others. */
      from: string[]
      /** Role of each user; `*` stands for every other one. */
      roles: Record<string, 'viewer' | 'operator' | 'admin'>
    }
    /**
     * A provider of OpenID Connect that signs users in. Its secret is in `UPSHOT_OIDC_SECRET`.
     * Register the address `<url>/oidc/callback` there. Default: none.
     */
    oidc?: {
      /** Address of the provider, such as `https://login.example.com/realms/ops`. */
      issuer: string
      /** Name of this client at the provider. */
      clientId: string
      /** Scopes to ask for. Default `openid profile email`. */
      scope?: string
      /** Claim of the id token that lists the groups of a user. Default `groups`. */
      groupsClaim?: string
      /** Role of each group; `*` stands for every user. Users without a role are refused. */
      roles: Record<string, 'viewer' | 'operator' | 'admin'>
    }
  }
  /**
   * Bounds on what all runs together may delete and write. A scope that is set replaces its default
   * as a whole; nothing switches the guard off against the real service.
   */
  guard?: {
    /** All runs. Default: 300 deletes an hour, 1,000 a day. */
    all?: ScopeGuard
    /** Each account. Default: 300 deletes an hour, 1,000 a day. */
    account?: ScopeGuard
    /** Each storage of an account. Default: 200 deletes an hour, 500 a day. */
    storage?: ScopeGuard
    /**
     * Each workflow without a `guard` of its own. Default: 20 deletes a run, 100 an hour, 300 a
     * day, and 10% of 20 or more listed entries.
     */
    workflow?: WorkflowGuard
  }
  /** Rules of the approvals that the guard opens. */
  approvals?: {
    /** An approval without a decision expires after this long. Default 7d. */
    expire?: Duration
    /** Distinct people who have to agree, 1 to 10. Default 1. */
    needs?: number
  }
  /** Messages about what needs a person. Default: none. */
  alerts?: {
    /** Where messages go, by a name that rules use. */
    channels: Record<string, AlertChannelConfig>
    rules: AlertRuleConfig[]
  }
  /**
   * The writes that the effect ledger has a row of. `targeted`: those that name a `target`. `all`:
   * every step that writes, which costs each of them a row. Default `targeted`.
   */
  ledger?: 'targeted' | 'all'
  /** Workflows, by id, that may go past what the guard and the ledger see. */
  outside?: {
    /** May read the keys of the app by `upshotVariables()`. Default: none. */
    keys?: string[]
    /** Start processes and threads in their steps without being told. Default: none. */
    processes?: string[]
  }
  /**
   * Age at which things are removed: a duration, or `forever` to keep them. Events stay known
   * without their bodies, so a repeated delivery starts nothing.
   */
  retention?: {
    /**
     * Completed and skipped runs with their steps and ticks, counted from their end. Default 30d.
     */
    runs?: Duration | 'forever'
    /** Failed and canceled runs with their steps, counted from their end. Default 90d. */
    failures?: Duration | 'forever'
    /** Ledger rows of refused deliveries. Default 7d. */
    refusals?: Duration | 'forever'
    /** Ledger rows of all other deliveries. Default 90d. */
    deliveries?: Duration | 'forever'
    /**
     * Bodies of events that no unfinished run needs; an event without its body cannot be replayed.
     * Default 90d.
     */
    payloads?: Duration | 'forever'
    /** Rows of the audit log, which keeps every action of a person. Default 365d. */
    audit?: Duration | 'forever'
    /**
     * Rows of the effect ledger, which tells what was done to a file. Their seals stay. Default
     * `forever`.
     */
    effects?: Duration | 'forever'
    /**
     * Files that are gone, as sweeps know them. Rows of events about judged files go with them. At
     * least 60d. Default 90d.
     */
    files?: Duration | 'forever'
  }
}

/**
 * Where alerts go. `$NAME` stands for the value of an environment variable: such values are secret,
 * because everybody who knows one can send.
 */
export type AlertChannelConfig =
  /** Events of type `upshot.alert`, signed as Standard Webhooks says with a base64 `secret`. */
  | { kind: 'webhook'; url: `$${string}`; secret: `$${string}` }
  /** Slack's incoming webhooks, or what understands their form. */
  | { kind: 'slack'; url: `$${string}` }
  /** Plain text over SMTP; `smtp` is a URL such as `smtps://user:password@host`. */
  | { kind: 'email'; smtp: `$${string}`; from: string; to: string[] }

/** A rule that sends alerts. */
export interface AlertRuleConfig {
  /** Unique. Default: `when`, and `workflow` where it is set. */
  name?: string
  /** The thing that it watches. */
  when: AlertKind
  /** Only this workflow. Default: all. */
  workflow?: string
  /**
   * Tells only above this: runs, ticks or failed signatures; a duration for `queue.age`, a used
   * share for `disk.low`. Default 0; 4 for `endpoint.suspect`, 60s for `queue.age`, 0.9 for
   * `disk.low`.
   */
  over?: number | Duration
  /**
   * Tells only what holds for this long. Default 0; 5m for `queue.age`, 1h for `endpoint.silent`.
   */
  for?: Duration
  /** Shortest time between two messages about the same thing, at least 1m. Default 15m. */
  every?: Duration
  /** Names of channels. */
  to: string[]
}

/** Gives the configuration file its types. The values are checked when the app loads the file. */
export function defineConfig(config: ConfigFile): ConfigFile {
  return config
}
