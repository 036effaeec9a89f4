import { isAbsolute, relative } from 'node:path'
import { redactUrls } from '../../core/errors.ts'
import { loadConfigFile, readConfigFile } from './config-file.ts'
import type { Environment } from './environment.ts'
import { type Config, findConfigFile, loadConfig } from './load-config.ts'
import { VARIABLES } from './variables.ts'

/** One setting, its value, and the source of the value. */
export interface Explained {
  /** Name of the variable, or path in the project file, such as `receive.bodyBytes`. */
  setting: string
  /** Null where nothing is set; `(hidden)` for a secret that is set. */
  value: string | null
  origin: 'environment' | '.env' | 'file' | 'default'
  /** Name of the file; null for the other origins. */
  from: string | null
}

const SECRETS = /KEY$|SECRET$|TOKEN$|PASSWORD$|HEADERS$/i
const HIDDEN = '(hidden)'

/**
 * Every setting in the order of precedence: environment, project file, default. Throws
 * `invalid_config` as the app would. `adopted`: variables that came from `.env`.
 */
export async function explainConfig(
  environment: Environment,
  root: string,
  { configFile, adopted }: { configFile?: string | undefined; adopted: ReadonlySet<string> },
): Promise<Explained[]> {
  const config = await loadConfig(environment, root, configFile === undefined ? {} : { configFile })
  const file = findConfigFile(root, configFile)
  const settings = flattenSettings(await loadConfigFile(file))
  const written = flattenSettings(await readConfigFile(file))
  const place = isAbsolute(relative(root, file)) ? file : relative(root, file)
  return [
    ...Object.keys(VARIABLES).map((name) => explainVariable(name, environment, { adopted, ports: config.ports })),
    ...[...settings].map(([name, value]): Explained => {
      // `drain` in the file becomes `drainMs` once it is parsed.
      const isWritten = written.has(name) || written.has(name.replace(/Ms$/, ''))
      return { setting: name, value, origin: isWritten ? 'file' : 'default', from: isWritten ? place : null }
    }),
  ]
}

function explainVariable(
  name: string,
  environment: Environment,
  { adopted, ports }: { adopted: ReadonlySet<string>; ports: Config['ports'] },
): Explained {
  const text = environment[name] || undefined
  const value = text === undefined ? readDefault(name, ports) : SECRETS.test(name) ? HIDDEN : redactUrls(text)
  const shown = { setting: name, value }
  if (text === undefined) return { ...shown, origin: 'default', from: null }
  return adopted.has(name)
    ? { ...shown, origin: '.env', from: '.env' }
    : { ...shown, origin: 'environment', from: null }
}

function readDefault(name: string, ports: Config['ports']): string | null {
  // The default of this port depends on the role.
  if (name === 'UPSHOT_ADMIN_PORT') return String(ports.admin)
  const parsed = VARIABLES[name]?.[0].safeParse(undefined)
  return parsed?.success && parsed.data !== undefined ? String(parsed.data) : null
}

/**
 * The settings that a process runs with, by path. They are chosen one by one, so that no key,
 * secret or address of a channel is among them.
 */
export function listSettings(config: Config): { setting: string; value: string }[] {
  const { role, host, ports, logLevel, dataDir, workflowsDir, slots, drainMs, engine, limits, publicUrl } = config
  const { receive, files, retention, service } = config
  const { host: adminHost, url, basePath, metrics } = config.admin
  const chosen = {
    role,
    host,
    ports,
    logLevel,
    dataDir,
    workflowsDir,
    slots,
    drainMs,
    engine,
    limits,
    publicUrl,
    receive,
    files,
    admin: { host: adminHost, url, basePath, metrics },
    retention,
    guard: config.guardPolicy.limits ?? 'off',
    service: service.kind,
    ...(service.kind === 'real'
      ? { serviceBaseUrl: service.baseUrl, plan: service.plan, storages: service.storages }
      : {}),
  }
  return [...flattenSettings(chosen)].map(([setting, value]) => ({ setting, value: redactUrls(value) }))
}

/** Every leaf of settings by its path, such as `receive.bodyBytes`. */
function flattenSettings(value: unknown, path = ''): Map<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return new Map([[path, typeof value === 'string' ? value : JSON.stringify(value)]])
  }
  const entries = Object.entries(value).filter(([, part]) => part !== undefined)
  return new Map(entries.flatMap(([name, part]) => [...flattenSettings(part, path === '' ? name : `${path}.${name}`)]))
}
