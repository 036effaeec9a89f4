/** What workflow authors import. The only barrel. */
export { z } from 'zod'
export { type ConfigFile, defineConfig } from './config-file.ts'
export { type Failure, Interrupted, RetryAt, StepError, TerminalError } from './core/errors.ts'
export type { ReceivedEvent, ServiceEvent } from './core/event.ts'
export {
  type CallLimits,
  type DeleteOutcome,
  type DownloadedFile,
  type FileDetails,
  type FileEntry,
  type FileHash,
  type FilePlace,
  type FileRef,
  type FilesApi,
  type ListQuery,
  type Page,
  type Snapshot,
  STORAGES,
  type StorageName,
  storageName,
} from './core/file.ts'
export type {
  BatchOptions,
  ConcurrencyOptions,
  DebounceOptions,
  SingletonOptions,
  ThrottleOptions,
  TimeoutOptions,
} from './core/flow.ts'
export { RetryAfter, type RetryOptions } from './core/retry.ts'
export { cron, type Overlap, type ScheduleOptions, type Tick } from './core/schedule.ts'
export type { Effect, OnceStepOptions, StepApi, StepContext, StepName, StepOptions } from './core/step.ts'
export type { Duration } from './core/time.ts'
export { callable } from './core/wait.ts'
export {
  type CancelRule,
  defineEvent,
  defineWorkflow,
  type EventDefinition,
  type FailureContext,
  type RunContext,
  type RunLog,
  type Workflow,
} from './core/workflow.ts'
