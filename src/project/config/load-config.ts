import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { AlertPlan } from '../../core/alerts/alert-rule.ts'
import { UpshotError } from '../../core/errors.ts'
import type { GuardPolicy } from '../../core/safety/guard.ts'
import type { EffectsMode } from '../../core/safety/stop.ts'
import type { SweepPlan } from '../../core/service/sweep/sweep-plan.ts'
import { alertVariables, readAlerts } from './alert-config.ts'
import { loadConfigFile, type Settings } from './config-file.ts'
import { DATABASE, type DatabaseConfig, readDatabase } from './database-config.ts'
import type { Environment } from './environment.ts'
import { readTraces, TRACES, type TraceConfig } from './trace-config.ts'
import {
  ADMIN_PORTS,
  type ConfigFlags,
  GENERAL,
  type LogThreshold,
  type Role,
  readService,
  readVariables,
  SECRET_VARIABLES,
  type ServiceConfig,
} from './variables.ts'

/** Configuration of the app, checked and frozen. */
export interface Config
  extends Omit<Settings, 'workflows' | 'guard' | 'approvals' | 'ledger' | 'alerts' | 'reconcile' | 'outside'> {
  dataDir: string
  workflowsDir: string
  /** Address that the receiver listens on. Admin server and sandbox listen on loopback only. */
  host: string
  /** Port 0 takes a free one. */
  ports: { receiver: number; admin: number; sandbox: number; sandboxDownload: number }
  logLevel: LogThreshold
  /** The part of the app that this process runs, or `all`. */
  role: Role
  /** Whether changed modules are loaded again. */
  dev?: boolean
  /** Tells calls of workflows that the guard and the ledger do not see. Default true. */
  watchEffects?: boolean
  /** Whether steps that read may send anything where their run is previewed. Default false. */
  trustsReads?: boolean
  /** `plan`: runs are only planned, and nothing acts. Default `live`. */
  effects?: EffectsMode
  /** Null or left out: the database is a file in `dataDir`. */
  database?: DatabaseConfig | null
  /** Key that seals secrets in the database; null where the data directory has a key file. */
  secretKey: string | null
  /** At the provider of `admin.oidc`; null: none. */
  oidcSecret: string | null
  /** File that anchors of the effect ledger are appended to; null: only the log has them. */
  anchorFile?: string | null
  /** The project file that was named. Left out: none was. */
  configFile?: string
  /** Bounds on effects, the rules of approvals, and the writes that the ledger has. */
  guardPolicy: GuardPolicy
  service: ServiceConfig
  /** Workflows that are given keys, and that may start processes and threads. Left out: none. */
  outside?: Settings['outside']
  /** Variables that hold a key, a password or an address that works like one. Left out: none. */
  secretVariables?: readonly string[]
  /** Left out: none. */
  alerts?: AlertPlan
  /** Sentences about variables of channels. Left out: all are there. */
  alertFaults?: readonly string[]
  /** Storages that are compared with events. Left out: none. */
  reconcile?: readonly SweepPlan[]
  /** How spans are sent; null or left out: they are not. */
  traces?: TraceConfig | null
}

/** Default places of the project file; the second is for a compiled project. */
const CONFIG_FILES = ['config/upshot.config.ts', 'config/upshot.config.js'] as const

/**
 * Configuration of the project in `root`. Precedence: flags, environment, project file, defaults.
 * Throws one `invalid_config` that lists every fault of the environment, or of the file.
 * `isCommand`: what only channels of alerts lack is in `alertFaults`.
 */
export async function loadConfig(
  inherited: Environment,
  root: string,
  { flags = {}, configFile, isCommand = false }: { flags?: ConfigFlags; configFile?: string; isCommand?: boolean } = {},
): Promise<Config> {
  const environment = { ...inherited, ...flagValues(flags) }
  const faults: string[] = []
  const general = readVariables(GENERAL, environment, faults, (name) => flags[name]?.flag ?? name)
  const service = readService(environment, faults)
  const traces = readVariables(TRACES, environment, faults)
  if (service?.kind === 'real' && general?.UPSHOT_GUARD === 'off') {
    faults.push('UPSHOT_GUARD must be on with the real service. Raise `guard` in the project file instead.')
  }
  const place = readVariables(DATABASE, environment, faults)
  const database = place && readDatabase(place, environment, faults)
  if (faults.length > 0 || !general || !service || !traces) throw describeFaults(faults)
  const file = await loadConfigFile(findConfigFile(root, configFile))
  const { workflows, guard, approvals, ledger, ...settings } = file
  const alertFaults: string[] = []
  const alerts = readAlerts(file.alerts, environment, alertFaults)
  if (alertFaults.length > 0 && !isCommand) throw describeFaults(alertFaults)
  return Object.freeze({
    ...settings,
    ...(configFile === undefined ? {} : { configFile: resolve(root, configFile) }),
    dataDir: resolve(root, general.UPSHOT_DATA_DIR),
    workflowsDir: resolve(root, general.UPSHOT_WORKFLOWS_DIR ?? workflows),
    host: general.UPSHOT_HOST,
    ports: {
      receiver: general.UPSHOT_PORT,
      admin: general.UPSHOT_ADMIN_PORT ?? ADMIN_PORTS[general.UPSHOT_ROLE],
      sandbox: general.UPSHOT_SANDBOX_PORT,
      sandboxDownload: general.UPSHOT_SANDBOX_DOWNLOAD_PORT,
    },
    logLevel: general.UPSHOT_LOG_LEVEL,
    role: general.UPSHOT_ROLE,
    database,
    dev: general.UPSHOT_DEV === '1',
    watchEffects: general.UPSHOT_WATCH_EFFECTS !== '0',
    trustsReads: general.UPSHOT_TRUST_READS === '1',
    effects: general.UPSHOT_EFFECTS,
    secretKey: general.UPSHOT_SECRET_KEY ?? null,
    oidcSecret: general.UPSHOT_OIDC_SECRET ?? null,
    anchorFile: resolve(root, general.UPSHOT_ANCHOR_FILE ?? join(general.UPSHOT_DATA_DIR, 'effects.anchors')),
    guardPolicy: {
      limits: general.UPSHOT_GUARD === 'off' ? null : guard,
      approvals: { expireMs: approvals.expire, needs: approvals.needs },
      ledger,
    },
    publicUrl: general.UPSHOT_PUBLIC_URL ?? settings.publicUrl,
    service,
    secretVariables: [...SECRET_VARIABLES, ...alertVariables(file.alerts)],
    alerts,
    alertFaults,
    traces: readTraces(traces),
  })
}

export function describeFaults(faults: readonly string[]): UpshotError {
  const lines = faults.map((fault) => `  ${fault}`)
  return new UpshotError('invalid_config', `Variables are missing or not valid:\n${lines.join('\n')}`)
}

/** The named file, which must exist, or the one in the default place, which need not. */
export function findConfigFile(root: string, named: string | undefined): string {
  const usual = CONFIG_FILES.find((file) => existsSync(join(root, file))) ?? CONFIG_FILES[0]
  const path = resolve(root, named ?? usual)
  if (named === undefined || existsSync(path)) return path
  throw new UpshotError('invalid_config', `The project file ${path} does not exist. Name another one with --config.`)
}

function flagValues(flags: ConfigFlags): Environment {
  return Object.fromEntries(Object.entries(flags).map(([name, given]) => [name, given.value]))
}
