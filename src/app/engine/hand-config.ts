import { DEFAULT_MAX_STEPS } from '../../core/runs/step.ts'
import type { EngineConfig, HandedConfig } from './engine-messages.ts'

/**
 * Settings for another thread or process. Nothing else of the configuration, which holds secrets.
 */
export function handConfig(config: EngineConfig): HandedConfig {
  const {
    workflowsDir,
    slots,
    drainMs,
    dev = false,
    watchEffects = true,
    trustsReads = false,
    reconcile = [],
    guardPolicy,
    traces = null,
    suspects = 'never',
    parent = null,
    files = { burst: null },
    effects = 'live',
    limits = { steps: DEFAULT_MAX_STEPS },
    outside = { keys: [], processes: [] },
  } = config
  return {
    workflowsDir,
    slots,
    drainMs,
    dev,
    watchEffects,
    trustsReads,
    reconcile,
    guardPolicy,
    traces,
    suspects,
    parent,
    files,
    effects,
    limits,
    outside,
  }
}
