import { UpshotError } from '../../core/errors.ts'
import type { Store } from '../../core/store/store.ts'
import { adoptEnvFile, processEnvironment } from '../../project/config/environment.ts'
import { type Config, loadConfig } from '../../project/config/load-config.ts'
import type { ConfigFlags } from '../../project/config/variables.ts'
import { projectChoice } from './project-choice.ts'

/**
 * The configuration of the project in the working directory, as the app itself reads it.
 * `isSandbox` leaves the service out.
 */
export function loadProject(flags: ConfigFlags = {}, { isSandbox = false } = {}): Promise<Config> {
  const { configFile } = projectChoice
  adoptEnvFile(process.cwd())
  const variables = Object.entries(processEnvironment())
  const environment = Object.fromEntries(variables.filter(([name]) => !isSandbox || !name.startsWith('SERVICE_')))
  return loadConfig(environment, process.cwd(), { flags, ...(configFile === null ? {} : { configFile }) })
}

/** Opens the project's store beside a running app, and closes it whatever happens. */
export async function withStore<T>(use: (store: Store, config: Config) => Promise<T>): Promise<T> {
  const config = await loadProject()
  const store = await open(config)
  try {
    return await use(store, config)
  } finally {
    await store.close()
  }
}

async function open(config: Config): Promise<Store> {
  const { openStore } = await import('../../project/data-dir/open-store.ts')
  try {
    return openStore(config)
  } catch (cause) {
    if (cause instanceof UpshotError) throw cause
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    throw new UpshotError('store_unavailable', `The data directory ${config.dataDir} cannot be opened (${why}).`, {
      cause,
      details: { fix: 'Make it writable, or name another one with UPSHOT_DATA_DIR.' },
    })
  }
}
