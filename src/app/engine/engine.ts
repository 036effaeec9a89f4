import type { Callbacks } from '../../core/incoming/hook.ts'
import type { BrokenModule } from '../../core/runs/workflow-record.ts'
import type { DeliveryIntake } from '../../core/store/store.ts'
import type { Access } from '../service/account-clients.ts'

/** How busy an engine is, for metrics. */
export interface EngineLoad {
  busy: number
  /** Requests a minute that the plan of each account in use allows. */
  fileLimits: { account: string; perMinute: number }[]
  /** Bytes that its thread held at the last look; null without a thread of its own. */
  memory: { heap: number; buffers: number; isShort: boolean } | null
}

/** Access to the default account, and how others reach the hooks of runs. */
export interface EngineAccess extends Access {
  /** Default: nobody does. */
  callbacks?: Callbacks
}

/** The part of the app that calls author code: modules, worker, event matcher, Files clients. */
export interface Engine extends DeliveryIntake {
  /**
   * Begins to claim runs, and writes the workflows, so that the receiver knows what events start.
   */
  start(access: EngineAccess): Promise<void>
  readonly load: EngineLoad
  /** Modules that it could not load. */
  readonly broken: readonly BrokenModule[]
  /** A hint that there may be something to claim. */
  wake(): void
  /** Lets the steps at work finish and releases every run. Nothing is written after it resolves. */
  stop(): Promise<void>
}
