import { UpshotError } from '../../src/core/errors.ts'
import type { WorkerStore } from '../../src/engine/worker.ts'

/** A crash at one write of a run: everything from there on is lost until the run is taken up again. */
export interface Crash {
  /** Puts itself between an engine and its store. */
  wrap(store: WorkerStore): WorkerStore
  readonly hasStruck: boolean
}

/**
 * Plays a scenario again and again, with a crash at its first write, its second and so on, until there are no more. Each
 * write is lost once together with what follows, and once it is the last that is kept.
 */
export async function crashAtEveryWrite(scenario: (crash: Crash) => Promise<void>): Promise<number> {
  for (let write = 1; ; write++) {
    const crashes = [createCrash(write, 'lost'), createCrash(write, 'kept')]
    for (const crash of crashes) await scenario(crash)
    if (!crashes.some((crash) => crash.hasStruck)) return write - 1
  }
}

function createCrash(at: number, fate: 'lost' | 'kept'): Crash {
  let writes = 0
  let isDown = false
  const strike = async (write: () => Promise<void>) => {
    if (!isDown && ++writes !== at) return write()
    if (!isDown && fate === 'kept') await write()
    isDown = true
    throw new UpshotError('store_unavailable', 'crashed')
  }
  return {
    get hasStruck() {
      return writes >= at
    },
    wrap: (store) => ({
      ...store,
      saveCheckpoint: (...given) => strike(() => store.saveCheckpoint(...given)),
      completeRun: (...given) => strike(() => store.completeRun(...given)),
      parkRun(...given) {
        isDown = false
        return store.parkRun(...given)
      },
    }),
  }
}
