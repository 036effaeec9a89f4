import type { AroundCall, FileCall, FileRef, FilesApi, ListQuery } from '../core/file.ts'
import type { FilesClient } from './client.ts'
import { type Collection, iterateEntries, iteratePages, takeSnapshot } from './iterate.ts'
import type { FilePage, FileQuery } from './list.ts'
import type { FilesLogLine } from './log-line.ts'

/**
 * The same client with every call to the service performed through `around`: inside a run, as a step of its own. What is
 * made of several calls stays made of them, so a listing that a crash interrupts goes on at its next page.
 */
export function performAround(client: FilesClient, around: AroundCall, log: (line: FilesLogLine) => void): FilesApi {
  const list = (query: FileQuery): Promise<FilePage> =>
    around(describe('list', 'read', pageTarget(query)), (signal) => client.list(query, { signal }))
  const pages = (collection: Collection) => iteratePages(list, collection, log)
  return {
    list,
    iterate: (collection) => iterateEntries(pages(collection)),
    snapshot: (collection, options = {}) => takeSnapshot(pages(collection), options.max),
    get: (file) => around(describe('get', 'read', fileTarget(file)), (signal) => client.get(file, { signal })),
    downloadUrl: (file) =>
      around({ ...describe('downloadUrl', 'read', fileTarget(file)), keep: false }, (signal) =>
        client.downloadUrl(file, { signal }),
      ),
    download: (file, options) =>
      around(describe('download', 'read', fileTarget(file)), (signal) => client.download(file, { ...options, signal })),
    delete: (file, options = {}) =>
      around(describe('delete', 'delete', fileTarget(file)), (signal) => client.delete(file, { ...options, signal })),
  }
}

function describe(operation: FileCall['operation'], effect: FileCall['effect'], target: string): FileCall {
  return { operation, effect, target, keep: true }
}

function fileTarget({ service, id }: FileRef): string {
  return `${service}:${id}`
}

function pageTarget({ service, path = '/', page = 1 }: ListQuery): string {
  return page === 1 ? `${service}:${path}` : `${service}:${path}?page=${page}`
}
