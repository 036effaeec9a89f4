import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import { UpshotError } from '../../core/errors.ts'
import type { AuditedAction, AuditOutcome, Operator } from '../../core/safety/audit.ts'
import type { ReadStore, Store } from '../../core/store/store.ts'
import type { Config } from '../../project/config/load-config.ts'
import type { ConfigFlags } from '../../project/config/variables.ts'
import { readUser } from '../../project/read-user.ts'
import { commandClock, followDatabase } from '../command-clock.ts'
import type { ServerChoice } from './find-server.ts'
import type { Operations, PersonStore } from './operations.ts'

/** The project in a folder, read as the app itself reads it. */
export interface Project {
  /** The folder, an absolute path. */
  readonly root: string
  /** The file that `--config` names; undefined for `config/upshot.config.ts`. */
  readonly configFile: string | undefined
  /** Whether a server is named, for a command with a way of its own there. */
  isFar(): Promise<boolean>
  /**
   * Loads the configuration. `isSandbox` ignores the variables of the real service. `isApp`: for a
   * process of the app, which needs those of alert channels, too.
   */
  load(flags?: ConfigFlags, options?: { isSandbox?: boolean; isApp?: boolean }): Promise<Config>
  /** The same where no server is named, by a variable either. For work on the database itself. */
  loadBeside(): Promise<Config>
  /** The settings of this folder, also where a server is named: for a command on both. */
  loadHere(): Promise<Config>
  /** The person at this command line, with the reason that `--reason` gives. */
  readonly operator: Operator
  /**
   * Opens the store, beside a running app too, and closes it even if `use` throws. Writes of
   * persons leave an audit row. Throws `not_found` without a database, unless `mayCreate`.
   */
  withStore<T>(use: (store: PersonStore, config: Config) => Promise<T>, options?: { mayCreate?: boolean }): Promise<T>
  /**
   * Opens the store for reading alone, beside a running app too: the database stays as it is.
   * Throws `not_found` without one.
   */
  withReads<T>(use: (store: ReadStore, config: Config) => Promise<T>): Promise<T>
  /** The operations of the table: at the server that was named, or on this machine's database. */
  withOperations<T>(use: (operations: Operations) => Promise<T>, options?: OpenOptions): Promise<T>
  /** Appends an action outside the store to the audit log; nothing where there is no database. */
  recordAction(action: AuditedAction, outcome: AuditOutcome): Promise<void>
}

interface OpenOptions {
  mayCreate?: boolean
  /** A standby may answer. */
  isList?: boolean
  /** Settings of this machine, which a server does not take. */
  flags?: ConfigFlags
}

/** The options of every command that name a project, a server or a reason. */
interface ProjectChoice extends ServerChoice {
  config?: string | undefined
  reason?: string | undefined
}

/** The project of this process's working directory. Nothing is read before a method is called. */
export function openProject({ config: configFile, reason, ...choice }: ProjectChoice = {}): Project {
  const root = process.cwd()
  const load: Project['load'] = async (flags, options) => {
    if (choice.server !== undefined) throw describeLocal(choice.server)
    return loadHere(flags, options)
  }
  const loadHere: Project['load'] = async (flags = {}, { isSandbox = false, isApp = false } = {}) => {
    // Loaded here, so that `--help` does not wait for them.
    const { adoptEnvFile, processEnvironment } = await import('../../project/config/environment.ts')
    const { loadConfig } = await import('../../project/config/load-config.ts')
    adoptEnvFile(root)
    const variables = Object.entries(processEnvironment())
    const environment = Object.fromEntries(variables.filter(([name]) => !isSandbox || !name.startsWith('SERVICE_')))
    return loadConfig(environment, root, {
      flags,
      isCommand: !isApp,
      ...(configFile === undefined ? {} : { configFile }),
    })
  }
  const operator = describeOperator(reason ?? null)
  const findServer = async () => (await import('./find-server.ts')).findAddressOfServer(choice)
  /** A command that reads or changes the database must not do so here, where a server is named. */
  const loadBeside = async () => {
    const server = await findServer()
    if (server !== null) throw describeLocal(server)
    return load()
  }
  const useStore = async <T>(config: Config, use: (person: Store, store: Store) => Promise<T>): Promise<T> => {
    const { asOperator } = await import('../../core/store/as-operator.ts')
    const store = await openStoreOf(config)
    try {
      await followDatabase(store)
      return await use({ ...store, ...asOperator(store, operator, commandClock) }, store)
    } finally {
      await store.close()
    }
  }
  return {
    root,
    configFile,
    isFar: async () => (await findServer()) !== null,
    load,
    loadBeside,
    loadHere,
    operator,
    async withStore(use, { mayCreate = false } = {}) {
      const config = await loadBeside()
      if (!mayCreate && !config.database) await requireDatabase(config)
      return useStore(config, (store) => use(store, config))
    },
    async withReads(use) {
      const config = await loadBeside()
      if (!config.database) await requireDatabase(config)
      const { openReadStore } = await import('../../project/data-dir/open-store.ts')
      return useReader(await openReadStore(config), (store) => use(store, config))
    },
    withOperations: (use, options = {}) => openOperations({ load, useStore, operator, choice }, use, options),
    async recordAction(action, outcome) {
      const { hasDatabase } = await import('../../project/data-dir/data-files.ts')
      const config = await load({}, { isSandbox: true })
      if (!hasDatabase(config)) return
      await useStore(config, (store) => store.recordAction({ ...operator, ...action, at: commandClock.now() }, outcome))
    },
  }
}

interface Opening {
  load: Project['load']
  useStore: <T>(config: Config, use: (person: Store, store: Store) => Promise<T>) => Promise<T>
  operator: Operator
  choice: ServerChoice
}

async function openOperations<T>(
  { load, useStore, operator, choice }: Opening,
  use: (operations: Operations) => Promise<T>,
  { mayCreate = false, isList = false, flags }: OpenOptions,
): Promise<T> {
  const { readServer } = await import('./find-server.ts')
  const server = readServer(choice)
  if (server !== null) {
    if (flags !== undefined) throw describeLocal(server.url)
    const { openRemoteOperations } = await import('./remote-operations.ts')
    return use(openRemoteOperations(server, operator.reason))
  }
  const [config, { openLocalOperations }] = await Promise.all([load(flags), import('./local-operations.ts')])
  if (!mayCreate && !config.database) await requireDatabase(config)
  if (!isList || !config.database?.readHosts) {
    return useStore(config, async (person, store) => {
      await using operations = openLocalOperations(store, { config, person }, operator)
      return await use(operations)
    })
  }
  const { openListStore } = await import('../../project/data-dir/open-store.ts')
  return useReader(await openListStore(config), (reader) => {
    // A list writes nothing.
    const store = reader as unknown as Store
    return use(openLocalOperations(store, { config, person: store as PersonStore }, operator))
  })
}

async function useReader<Reader extends ReadStore & Pick<Store, 'close'>, T>(
  store: Reader,
  use: (store: Reader) => Promise<T>,
): Promise<T> {
  try {
    await followDatabase(store)
    return await use(store)
  } finally {
    await store.close()
  }
}

async function openStoreOf(config: Config): Promise<Store> {
  const { openStore } = await import('../../project/data-dir/open-store.ts')
  try {
    return await openStore(config)
  } catch (cause) {
    if (cause instanceof UpshotError) throw cause
    throw describeClosed(config, cause)
  }
}

function describeClosed({ dataDir }: Pick<Config, 'dataDir'>, cause: unknown): UpshotError {
  const why = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
  return new UpshotError('store_unavailable', `Cannot open the data directory ${dataDir} (${why}).`, {
    cause,
    fix: 'Make it and its files readable and writable for this user, or name another one with UPSHOT_DATA_DIR.',
  })
}

/** Throws `store_unavailable` where this user may not look. */
function hasFile(file: string, config: Pick<Config, 'dataDir'>): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch (cause) {
    throw describeClosed(config, cause)
  }
}

/**
 * The path of the project's database, for a command that works on a file and must not make one.
 * Throws `not_found`, `store_unavailable` where this user may not look, and `invalid_request` where
 * the project is in PostgreSQL.
 */
export async function requireDatabase(config: Pick<Config, 'dataDir' | 'database'>): Promise<string> {
  if (config.database) {
    throw new UpshotError('invalid_request', 'This command works on a database file; yours is in PostgreSQL.', {
      fix: 'Use the tools of PostgreSQL or of its provider, such as pg_dump.',
    })
  }
  const { databaseFile } = await import('../../project/data-dir/data-files.ts')
  const file = databaseFile(config)
  if (hasFile(file, config)) return file
  throw new UpshotError(
    'not_found',
    `There is no database in ${config.dataDir}, so there is no project here, or its app has never run.`,
    {
      fix: 'Go to the folder of a project and start its app once (npm start), or name the data with UPSHOT_DATA_DIR.',
    },
  )
}

function describeLocal(server: string): UpshotError {
  return new UpshotError('invalid_request', `This command works on the machine of the app, and not at ${server}.`, {
    fix: 'Run it there, without --server and UPSHOT_SERVER.',
  })
}

/** The role of everybody who can open the data directory. */
const ROLE = 'owner'

/** The person at this command line, as the system names them. Nothing proves that name. */
function describeOperator(reason: string | null): Operator {
  return { actor: `cli:${readUser()}`, role: ROLE, from: hostname(), reason }
}
