/** The client of the Files API. Use it inside a workflow, or alone as a library. */

// Client and options

export type { KeySource } from './call/key-ring.ts'
export type { CallOptions } from './call/open-calls.ts'
export type { FilesClientOptions, ListForm, WireName } from './call/options.ts'
export { createFilesClient, type FilesClient } from './client.ts'

// Arguments of the calls

export type { Downloadable, FilePlace, FileRef } from '../core/service/file.ts'
export type { CallLimits, DeleteAllOptions, FilesApi, ListQuery, SnapshotOptions } from '../core/service/files-api.ts'
export type { StorageName } from '../core/service/storage.ts'
export type { DeleteRequest } from './operations/delete.ts'
export type { DownloadRequest } from './operations/download.ts'
export type { Collection, FileQuery } from './operations/listing/list-page.ts'

// Results of the calls

export type { FileDetails, FileEntry, FileHash } from '../core/service/file.ts'
export type {
  DeletedFiles,
  DeleteOutcome,
  DownloadedFile,
  IncompleteReason,
  Snapshot,
} from '../core/service/files-api.ts'
export { localName } from './disk/local-name.ts'
export type { DownloadUrl } from './operations/get.ts'
export type { FilePage } from './operations/listing/list-page.ts'
export { Secret } from './secret.ts'

// Errors and log lines

export * from './errors.ts'
export type { FilesLogLine } from './log-line.ts'

// The rate limit, and how processes share it

export type { Plan } from '../core/service/account.ts'
export { folderLimiterStore } from './limit/folder-limiter-store.ts'
export {
  type LimiterState,
  type LimiterStore,
  memoryLimiterStore,
  OPEN_STATE,
  type Priority,
} from './limit/limiter-store.ts'
