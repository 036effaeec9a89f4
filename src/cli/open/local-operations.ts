import { localOperations } from '../../admin/local/local-operations.ts'
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
  let runner: Promise<BulkRunner> | null = null
  const parts = {
    store,
    openLists: async () => store,
    clock: commandClock,
    // Loaded by the first operation on many runs or events that this command starts.
    runner: {
      wake() {
        runner ??= openRunner(store)
        void runner.then((opened) => opened.wake())
      },
    },
    health: { check: () => askApp(config) },
    async openSurroundings() {
      const { openSurroundings } = await import('../../app/console/open-surroundings.ts')
      const { probeKeyOf } = await import('./running-app.ts')
      return openSurroundings(config, {
        store,
        clock: commandClock,
        publish: () => {},
        embedded: () => null,
        probeKey: probeKeyOf(config),
        // Somebody waits for it at a terminal.
        priority: 'interactive',
      })
    },
  }
  const caller = { kind: 'cli', id: 'cli', role: 'admin', address: operator.from } as const
  const operations = localOperations(parts, { ...caller, name: operator.actor.replace(/^cli:/, '') })
  const opened = withReason({ local: { store: person, config }, ...operations }, operator.reason)
  return { ...opened, [Symbol.asyncDispose]: async () => (await runner)?.stop() }
}

async function openRunner(store: Store): Promise<BulkRunner> {
  const { BulkRunner } = await import('../../admin/operations/bulk-runner.ts')
  return new BulkRunner({ store, clock: commandClock, publish: () => {} })
}

/** The report of the app that runs on this data directory. */
async function askApp(config: Config): Promise<HealthReport> {
  const { askRunningApp } = await import('./running-app.ts')
  const app = await askRunningApp(config)
  if (typeof app === 'string') return { ready: false, checks: { app }, warnings: [] }
  return { ready: app.isReady, checks: app.checks, warnings: app.warnings }
}
