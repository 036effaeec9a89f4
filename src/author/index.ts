/** What workflow authors import. The only barrel. */
export { z } from 'zod'
export { type Failure, Interrupted, RetryAt, StepError, TerminalError } from '../core/errors.ts'
export type { ReceivedEvent, ServiceEvent } from '../core/incoming/event.ts'
export type {
  BatchOptions,
  ConcurrencyOptions,
  DebounceOptions,
  SingletonOptions,
  ThrottleOptions,
  TimeoutOptions,
} from '../core/runs/admission.ts'
export { RetryAfter, type RetryOptions } from '../core/runs/retry.ts'
export { cron, type Overlap, type ScheduleOptions, type Tick } from '../core/runs/schedule.ts'
export type { Effect, OnceStepOptions, StepApi, StepContext, StepName, StepOptions } from '../core/runs/step.ts'
export { callable } from '../core/runs/wait.ts'
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
} from '../core/service/file.ts'
export type { Duration } from '../core/time.ts'
export { type ConfigFile, defineConfig } from '../project/config/config-file.ts'
export {
  type CancelRule,
  defineEvent,
  defineWorkflow,
  type EventDefinition,
  type FailureContext,
  type RunContext,
  type RunLog,
  type Workflow,
} from './workflow.ts'
