import type { HealthCheck } from '../../admin/ports/health.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import type { Config } from '../../project/config/load-config.ts'

interface ReadinessParts {
  role: Config['role']
  store: Pick<Store, 'checkWritable'>
  clock: Clock
  /** `started`, or the phase that the app is in instead. */
  phase: () => string
  /** Throws while the disk refuses deliveries. */
  requireDisk: () => void
  /** Rejects until a process has loaded the workflows. */
  readRoutes: () => Promise<unknown>
  /** Sends a signed delivery to each endpoint; null in a process without a receiver. */
  checkEndpoints: (() => Promise<void>) | null
}

/** The checks behind `/readyz`, by the name that its answer gives them. */
export function readinessChecks(parts: ReadinessParts): Record<string, HealthCheck> {
  const { role, store, clock, phase, requireDisk, readRoutes, checkEndpoints } = parts
  return {
    async migrated() {
      if ((await store.checkWritable(clock.now())).isMigrated) return
      throw new Error('a newer Upshot has migrated the database: start that version')
    },
    async writable() {
      await store.checkWritable(clock.now())
      requireDisk()
    },
    async app() {
      if (phase() !== 'started') throw new Error(phase())
    },
    ...(checkEndpoints === null ? {} : { endpoints: probeEndpoints(phase, checkEndpoints) }),
    ...(role === 'receiver' ? { workflows: async () => void (await readRoutes()) } : {}),
  }
}

/** Probes only a started app: the receiver answers 503 before and after. */
function probeEndpoints(phase: () => string, checkEndpoints: () => Promise<void>): HealthCheck {
  return async () => {
    if (phase() !== 'started') throw new Error('not probed')
    await checkEndpoints()
  }
}
