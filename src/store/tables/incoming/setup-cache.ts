import type { Endpoint } from '../../../core/incoming/endpoint.ts'
import type { Route } from '../../../core/incoming/route.ts'

/** Endpoints and routes, which deliveries are planned with. */
interface Setup {
  /** Rises with each change. Read before the rest, so it is never newer. */
  version: number
  /** By path. */
  endpoints: ReadonlyMap<string, Endpoint>
  /** Null until a process has loaded workflows. */
  routes: readonly Route[] | null
}

/** SQL for the version. Both tables have one row; each number only rises, and so does the sum. */
export const SETUP_VERSION =
  'SELECT endpoint_version.version + workflow_version.version FROM endpoint_version, workflow_version'

interface SetupTables {
  setupVersion: { get(): Promise<number | undefined> }
  endpoints: { load(): Promise<Setup['endpoints']> }
  workflows: { routes(): Promise<Setup['routes']> }
}

/** Endpoints and routes in memory, loaded again after any process has changed them. */
export class SetupCache {
  readonly #read: <T>(use: (tables: SetupTables) => Promise<T>) => Promise<T>
  #known: Setup | null = null
  #asking: Promise<Setup> | null = null
  #next: Promise<Setup> | null = null

  /** `read` gives the tables to a read of them. */
  constructor(read: <T>(use: (tables: SetupTables) => Promise<T>) => Promise<T>) {
    this.#read = read
  }

  /**
   * As it was at this call or later, or at the version `at`, if that is the known one. Calls during
   * a question share the next one.
   */
  get(at?: number): Promise<Setup> {
    if (at !== undefined && at === this.#known?.version) return Promise.resolve(this.#known)
    if (this.#asking === null) return this.#ask()
    this.#next ??= this.#asking.then(
      () => this.#ask(),
      () => this.#ask(),
    )
    return this.#next
  }

  #ask(): Promise<Setup> {
    this.#next = null
    this.#asking = this.#look().finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  async #look(): Promise<Setup> {
    const version = (await this.#read((t) => t.setupVersion.get())) ?? 0
    if (version !== this.#known?.version) this.#known = { version, ...(await this.#read(load)) }
    return this.#known
  }
}

async function load({ endpoints, workflows }: SetupTables): Promise<Omit<Setup, 'version'>> {
  return { endpoints: await endpoints.load(), routes: await workflows.routes() }
}
