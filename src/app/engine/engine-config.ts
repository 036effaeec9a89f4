import type { MessagePort } from 'node:worker_threads'
import { ALONE_MS } from '../../core/runs/lease.ts'
import { DEFAULT_MAX_STEPS } from '../../core/runs/step.ts'
import type { WorkerParts } from '../../engine/worker-parts.ts'
import type { Config } from '../../project/config/load-config.ts'
import type { SkippedModule } from '../../project/workflows/load-workflows.ts'
import type { StoreOptions } from '../../store/open-store.ts'

export interface EngineConfig
  extends Pick<Config, 'workflowsDir' | 'slots' | 'drainMs' | 'dev' | 'guardPolicy' | 'traces'>,
    Partial<Pick<Config, 'watchEffects' | 'trustsReads' | 'reconcile' | 'effects' | 'limits' | 'outside'>> {
  /** Settings of the calls of the Files API. */
  files?: Config['files']
  /** Whether it claims runs that may have ended their workers. */
  suspects?: NonNullable<WorkerParts['suspects']>
  aloneMs?: NonNullable<WorkerParts['aloneMs']>
  beatMs?: WorkerParts['beatMs']
  /** Id of the process without which it begins no step; null: none. */
  parent?: number | null
}

/** Settings for another thread or process. It names every one, so that none is forgotten. */
export type HandedConfig = Required<Omit<EngineConfig, 'beatMs'>> & Pick<EngineConfig, 'beatMs'>

/** The data that an engine's thread begins with. */
export interface EngineStart {
  config: HandedConfig
  store: StoreOptions
  /** To the store of the main thread. */
  port: MessagePort
  /** Variables that were taken out of the environment, for children that run `upshot`. */
  variables: Readonly<Record<string, string>>
  worker: string
  /** Memory of its `WorkerCounts`. */
  counts: SharedArrayBuffer
  /** One number that rises while its loop turns. */
  pulse: SharedArrayBuffer
  /** Interval at which it rises. */
  pulseMs: number
  /** Modules that ended or blocked the thread before. */
  skipped: SkippedModule[]
}

export type LoadingModule = Pick<SkippedModule, 'file' | 'code'>

/**
 * Settings for another thread or process. Nothing else of the configuration, which holds secrets.
 */
export function handConfig(config: EngineConfig): HandedConfig {
  const { workflowsDir, slots, drainMs, guardPolicy } = config
  return {
    workflowsDir,
    slots,
    drainMs,
    guardPolicy,
    dev: config.dev ?? false,
    watchEffects: config.watchEffects ?? true,
    trustsReads: config.trustsReads ?? false,
    reconcile: config.reconcile ?? [],
    traces: config.traces ?? null,
    suspects: config.suspects ?? 'never',
    aloneMs: config.aloneMs ?? ALONE_MS,
    parent: config.parent ?? null,
    files: config.files ?? { burst: null },
    effects: config.effects ?? 'live',
    limits: config.limits ?? { steps: DEFAULT_MAX_STEPS },
    outside: config.outside ?? { keys: [], processes: [] },
  }
}
