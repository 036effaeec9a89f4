import type { Store } from '../../core/store/store.ts'
import type { Config } from '../../project/config/load-config.ts'
import type { StoreOptions } from '../../store/open-store.ts'
import type { SharedStore } from '../../store/shared-store.ts'
import type { Engine } from './engine.ts'
import { handConfig } from './engine-config.ts'
import { EngineThread } from './engine-thread.ts'
import type { LocalEngineParts } from './local-engine.ts'
import { Quarantine } from './quarantine.ts'
import { SupervisedEngine } from './supervised-engine.ts'

interface OpenEngineParts extends Omit<LocalEngineParts, 'config' | 'store'> {
  config: Config
  storeOptions: StoreOptions
  /** A store of one thread, or given workflows, keep the engine on this thread. */
  store: Store | SharedStore
}

/** Loads the workflows: on a thread of their own, where nothing keeps them on this one. */
export async function openEngine({ store, ...parts }: OpenEngineParts): Promise<Engine> {
  const { config, clock, notices, storeOptions, workflows } = parts
  if (workflows !== undefined || !('connect' in store)) {
    // An app whose engine has a thread of its own never loads these modules here.
    const { LocalEngine } = await import('./local-engine.ts')
    // Nobody beside it tries the runs that may have ended it.
    return LocalEngine.load({ store, ...parts, config: handConfig({ ...config, suspects: 'when_idle' }) })
  }
  return SupervisedEngine.load({
    config,
    store,
    clock,
    notices,
    quarantine: new Quarantine({ config, storeOptions, store, clock, notices }),
    begin: (begin) => new EngineThread({ config, storeOptions, store, now: clock.now(), ...begin }),
  })
}
