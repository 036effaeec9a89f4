/** The door `upshot`: everything that workflow modules and the configuration file import. */
export { z } from 'zod'
export { upshotVariables } from '../core/access/upshot-variables.ts'
export type { AlertKind } from '../core/alerts/alert-rule.ts'
export { type Failure, Interrupted, StepError, TerminalError } from '../core/errors.ts'
export type { ReceivedEvent, ServiceEvent } from '../core/incoming/event.ts'
export { RetryAfter, RetryAt, type RetryOptions } from '../core/runs/retry.ts'
export type { Overlap } from '../core/runs/schedule.ts'
export type { Effect, StepName } from '../core/runs/step.ts'
export type { FileDetails, FileEntry, FileHash, FilePlace, FileRef } from '../core/service/file.ts'
export type {
  CallLimits,
  DeleteAllOptions,
  DeletedFiles,
  DeleteOptions,
  DeleteOutcome,
  DownloadedFile,
  DownloadUrl,
  FilesApi,
  ListQuery,
  Page,
  Snapshot,
} from '../core/service/files-api.ts'
export { STORAGES, type StorageName } from '../core/service/storage.ts'
export type { Duration } from '../core/time.ts'
export type { BatchContext, DebounceContext, FailureContext, RunContext, RunLog } from './context.ts'
export { cron, type ScheduleOptions, type Tick } from './cron.ts'
export {
  type AlertChannelConfig,
  type AlertRuleConfig,
  type ConfigFile,
  defineConfig,
  type ReconcileOptions,
} from './define-config.ts'
export { defineEvent, type EventDefinition } from './define-event.ts'
export { defineWorkflow } from './define-workflow.ts'
export type { Jsonify, KeptAsJson } from './jsonify.ts'
export type {
  BatchOptions,
  ConcurrencyOptions,
  CountGuard,
  DebounceOptions,
  DeleteGuard,
  KeyedRun,
  LimitOptions,
  ScopeGuard,
  SingletonOptions,
  SizeGuard,
  ThrottleOptions,
  TimeoutOptions,
  WorkflowGuard,
} from './limits.ts'
export type {
  OnceStepOptions,
  StepApi,
  StepContext,
  StepOptions,
} from './steps/step-api.ts'
export type {
  ApproveOptions,
  ApproveVerdict,
  Hook,
  HookAnswer,
  HookOptions,
  ScheduleRequest,
  SendOptions,
} from './steps/step-options.ts'
export { storageName } from './storage-name.ts'
export { type CallableTrigger, callable } from './trigger.ts'
export type {
  CancelRule,
  Workflow,
  WorkflowOptions,
} from './workflow.ts'
