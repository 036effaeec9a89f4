import { existsSync } from 'node:fs'
import { UpshotError } from '../../core/errors.ts'
import type { Store } from '../../core/store/store.ts'
import type { Config } from '../../project/config/load-config.ts'
import type { ConfigFlags } from '../../project/config/variables.ts'

/** The project in a folder, read as the app itself reads it. */
export interface Project {
  /** The folder, an absolute path. */
  readonly root: string
  /** The file that `--config` names; undefined for `config/upshot.config.ts`. */
  readonly configFile: string | undefined
  /** Loads the configuration. `isSandbox` ignores the variables of the real service. */
  load(flags?: ConfigFlags, options?: { isSandbox?: boolean }): Promise<Config>
  /** Opens the store, beside a running app too, and closes it even if `use` throws. */
  withStore<T>(use: (store: Store, config: Config) => Promise<T>): Promise<T>
}

/** The project of this process's working directory. Nothing is read before a method is called. */
export function openProject(configFile?: string): Project {
  const root = process.cwd()
  const load: Project['load'] = async (flags = {}, { isSandbox = false } = {}) => {
    // Loaded here, so that `--help` does not wait for them.
    const { adoptEnvFile, processEnvironment } = await import('../../project/config/environment.ts')
    const { loadConfig } = await import('../../project/config/load-config.ts')
    adoptEnvFile(root)
    const variables = Object.entries(processEnvironment())
    const environment = Object.fromEntries(variables.filter(([name]) => !isSandbox || !name.startsWith('SERVICE_')))
    return loadConfig(environment, root, { flags, ...(configFile === undefined ? {} : { configFile }) })
  }
  return {
    root,
    configFile,
    load,
    async withStore(use) {
      const config = await load()
      const store = await openStoreOf(config)
      try {
        return await use(store, config)
      } finally {
        await store.close()
      }
    },
  }
}

async function openStoreOf(config: Config): Promise<Store> {
  const { openStore } = await import('../../project/data-dir/open-store.ts')
  try {
    return openStore(config)
  } catch (cause) {
    if (cause instanceof UpshotError) throw cause
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    throw new UpshotError('store_unavailable', `Cannot open the data directory ${config.dataDir} (${why}).`, {
      cause,
      details: { fix: 'Make it readable and writable for this user, or name another one with UPSHOT_DATA_DIR.' },
    })
  }
}

/** The path of the project's database, for a command that must not make one; throws `not_found`. */
export async function requireDatabase(config: Pick<Config, 'dataDir'>): Promise<string> {
  const { databaseFile } = await import('../../project/data-dir/data-files.ts')
  const file = databaseFile(config)
  if (existsSync(file)) return file
  throw new UpshotError('not_found', `There is no database in ${config.dataDir}.`, {
    details: { fix: 'Start the app once, or name another data directory with UPSHOT_DATA_DIR.' },
  })
}
