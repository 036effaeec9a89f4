/** The client of the Files API: usable inside a workflow and as a plain library. */
export type { FileDetails, FileEntry, FileHash, FilePlace, FileRef } from '../core/service/file.ts'
export type {
  CallLimits,
  DeleteOutcome,
  DownloadedFile,
  FilesApi,
  ListQuery,
  Snapshot,
} from '../core/service/files-api.ts'
export type { StorageName } from '../core/service/storage.ts'
export type { KeySource } from './call/key-ring.ts'
export type { CallOptions } from './call/open-calls.ts'
export type { FilesClientOptions, ListForm, WireName } from './call/options.ts'
export { createFilesClient, type FilesClient } from './client.ts'
export * from './errors.ts'
export { localName } from './http/request-url.ts'
export {
  type LimiterState,
  type LimiterStore,
  memoryLimiterStore,
  OPEN_STATE,
  type Plan,
  type Priority,
} from './limit/limiter-store.ts'
export type { FilesLogLine } from './log-line.ts'
export type { DeleteRequest } from './operations/delete.ts'
export type { Downloadable, DownloadRequest } from './operations/download.ts'
export type { DownloadUrl } from './operations/download-url.ts'
export type { Collection } from './operations/iterate.ts'
export type { FilePage, FileQuery } from './operations/list-page.ts'
export { Secret } from './secret.ts'
