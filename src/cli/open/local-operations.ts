import { LocalOperations } from '../../admin/local/local-operations.ts'
import type { BulkRunner } from '../../admin/operations/bulk-runner.ts'
import type { HealthReport } from '../../admin/ports/health.ts'
import type { Operator } from '../../core/safety/audit.ts'
import type { Store } from '../../core/store/store.ts'
import type { Config } from '../../project/config/load-config.ts'
import { commandClock } from '../command-clock.ts'
import { type Operations, type PersonStore, withReason } from './operations.ts'

/** The operations in this process, on an open database, for the person at this command line. */
export function openLocalOperations(
  store: Store,
  { config, person }: { config: Config; person: PersonStore },
  operator: Operator,
): Operations & AsyncDisposable {
  const runner = new LateRunner(store)
  const parts = {
    store,
    openLists: async () => store,
    clock: commandClock,
    runner,
    health: { check: () => askApp(config) },
    async openSurroundings() {
      const { openSurroundings } = await import('../../app/console/open-surroundings.ts')
      const { probeKeyOf } = await import('./running-app.ts')
      const embedded = () => null
      const probeKey = probeKeyOf(config)
      return openSurroundings(config, {
        store,
        clock: commandClock,
        publish: () => {},
        embedded,
        probeKey,
        // Somebody waits for it at a terminal.
        priority: 'interactive',
      })
    },
  }
  const caller = { kind: 'cli', id: 'cli', role: 'admin', address: operator.from } as const
  const operations = new LocalOperations(parts, { ...caller, name: operator.actor.replace(/^cli:/, '') })
  const opened: Operations = {
    local: { store: person, config },
    perform: (name, input, options) => operations.perform(name, input, options),
    stream: (name, input, options) => operations.stream(name, input, options),
    events: (name, input, options) => operations.events(name, input, options),
  }
  return { ...withReason(opened, operator.reason), [Symbol.asyncDispose]: () => runner.stop() }
}

/** Works on operations on many runs or events from the first that this command starts. */
class LateRunner {
  readonly #store: Store
  #runner: Promise<BulkRunner> | null = null

  constructor(store: Store) {
    this.#store = store
  }

  wake(): void {
    this.#runner ??= this.#start()
    this.#runner.then((runner) => runner.wake())
  }

  async #start(): Promise<BulkRunner> {
    const { BulkRunner } = await import('../../admin/operations/bulk-runner.ts')
    return new BulkRunner({ store: this.#store, clock: commandClock, publish: () => {} })
  }

  async stop(): Promise<void> {
    await (await this.#runner)?.stop()
  }
}

/** The report of the app that runs on this data directory. */
async function askApp(config: Config): Promise<HealthReport> {
  const { askRunningApp } = await import('./running-app.ts')
  const app = await askRunningApp(config)
  if (typeof app === 'string') return { ready: false, checks: { app }, warnings: [] }
  return { ready: app.isReady, checks: app.checks, warnings: [] }
}
