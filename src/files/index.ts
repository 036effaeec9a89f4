/** The client of the Files API: usable inside a workflow and as a plain library. */
export type {
  CallLimits,
  DeleteOutcome,
  DownloadedFile,
  FileDetails,
  FileEntry,
  FileHash,
  FilePlace,
  FileRef,
  FilesApi,
  ListQuery,
  Snapshot,
  StorageName,
} from '../core/file.ts'
export type { KeySource } from './api-key.ts'
export type { CallOptions } from './call-desk.ts'
export { createFilesClient, type FilesClient } from './client.ts'
export type { DeleteRequest } from './delete.ts'
export type { Downloadable, DownloadRequest } from './download.ts'
export type { DownloadUrl } from './download-url.ts'
export * from './errors.ts'
export type { Collection } from './iterate.ts'
export {
  type LimiterState,
  type LimiterStore,
  memoryLimiterStore,
  OPEN_STATE,
  type Plan,
  type Priority,
} from './limiter-store.ts'
export type { FilePage, FileQuery } from './list.ts'
export type { FilesLogLine } from './log-line.ts'
export type { FilesClientOptions, ListForm, WireName } from './options.ts'
export { localName } from './request-url.ts'
export { Secret } from './secret.ts'
