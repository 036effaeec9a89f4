import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { UpshotError } from '../../core/errors.ts'
import { loadConfigFile, type Settings } from './config-file.ts'
import type { Environment } from './environment.ts'
import type { ConfigFlags, LogLevel, Role, ServiceConfig } from './variables.ts'
import { ADMIN_PORTS, GENERAL, readService, readTable } from './variables.ts'

/** Everything the app is told from outside, checked and frozen. */
export interface Config extends Omit<Settings, 'workflows'> {
  dataDir: string
  workflowsDir: string
  /** Address the receiver listens on; the admin server and the sandbox stay on loopback. */
  host: string
  /** 0 takes a free one. */
  ports: { receiver: number; admin: number; sandbox: number; sandboxDownload: number }
  logLevel: LogLevel
  /** Which parts of the app this process runs. */
  role: Role
  /** Modules are loaded anew when their source changes. */
  dev?: boolean
  /** Key that seals secrets in the database; null: a key file in the data directory. */
  secretKey: string | null
  service: ServiceConfig
}

/**
 * Where a project's file is when nobody names another one; the second for a project that is
 * compiled.
 */
const CONFIG_FILES = ['config/upshot.config.ts', 'config/upshot.config.js'] as const

/**
 * The configuration of a project: flags over environment over file over defaults. Throws one
 * `invalid_config` with every fault. A `configFile` that is named, from `root`, must exist.
 */
export async function loadConfig(
  surroundings: Environment,
  root: string,
  { flags = {}, configFile }: { flags?: ConfigFlags; configFile?: string } = {},
): Promise<Config> {
  const environment = { ...surroundings, ...flagValues(flags) }
  const faults: string[] = []
  const general = readTable(GENERAL, environment, faults, (name) => flags[name]?.flag ?? name)
  const service = readService(environment, faults)
  if (faults.length > 0 || !general || !service) {
    throw new UpshotError(
      'invalid_config',
      `The environment is not complete:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
    )
  }
  const { workflows, ...settings } = await loadConfigFile(findConfigFile(root, configFile))
  return Object.freeze({
    ...settings,
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
    dev: general.UPSHOT_DEV === '1',
    secretKey: general.UPSHOT_SECRET_KEY ?? null,
    publicUrl: general.UPSHOT_PUBLIC_URL ?? settings.publicUrl,
    service,
  })
}

/** The file that is named, which must exist, or the one in the usual place. */
export function findConfigFile(root: string, named: string | undefined): string {
  const usual = CONFIG_FILES.find((file) => existsSync(join(root, file))) ?? CONFIG_FILES[0]
  const path = resolve(root, named ?? usual)
  if (named === undefined || existsSync(path)) return path
  throw new UpshotError('invalid_config', `There is no project file ${path}. Name one that exists with --config.`)
}

function flagValues(flags: ConfigFlags): Environment {
  return Object.fromEntries(Object.entries(flags).map(([name, given]) => [name, given.value]))
}
