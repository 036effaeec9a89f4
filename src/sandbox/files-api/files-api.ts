import { json, Router } from 'express'
import { isPlainObject } from '../../core/json.ts'
import type { StorageName } from '../../core/service/storage.ts'
import { isoTime } from '../../core/time.ts'
import { ApiError, answerErrors } from '../http/api-error.ts'
import { type WireForm, wrapData, wrapEntry, wrapList } from '../http/wire-form.ts'
import type { Settings } from '../state/settings.ts'
import { type Entry, toWireEntry } from '../storage/entry.ts'
import type { Storage } from '../storage/storage.ts'
import type { StorageIndex } from '../storage/storage-index.ts'
import { normalizePath } from '../storage/storage-path.ts'
import { signTicket, URL_LIFETIME_MS } from './download-server.ts'
import { fileRequest, type ListRequest, listRequest, pageOfToken, tokenOfPage } from './files-query.ts'
import { type Call, createOperations, type Operation, type OperationParts } from './operation.ts'

interface FilesApiParts extends OperationParts {
  index: StorageIndex
  storages: Record<StorageName, Storage>
  downloadSecret: string
  /** Called for each reply: the ports are unknown until the servers listen. */
  origins(): { api: string; download: string }
}

/** The Files API under `/v1`, as a client of the real service calls it. */
export function filesApi(parts: FilesApiParts): Router {
  const router = Router()
  const operation = createOperations(parts)
  const alternativeList = operation(listFiles(parts, 'alternative'))
  router.use(json({ limit: '100kb', strict: false }))
  // This route comes first: `/files/:fileId` would take "list" for an id.
  router.route('/files/list').get(alternativeList).post(alternativeList)
  router.get('/files', operation(listFiles(parts)))
  router.get('/files/:fileId', operation(getFile(parts)))
  router.get('/files/:fileId/download', operation(getDownloadUrl(parts)))
  router.delete('/files/:fileId', operation(deleteFile(parts)))
  router.use(({ method, path }) => {
    throw new ApiError(404, 'invalid_request', `There is no endpoint ${method} ${path}.`)
  })
  router.use(answerErrors(parts.log, { formOf: ({ path }) => formOfPath(path, parts.settings.get().form) }))
  return router
}

/** The form of an error that occurs before an operation is reached. */
function formOfPath(path: string, setting: Settings['form']): WireForm {
  return path === '/files/list' || setting === 'alternative' ? 'alternative' : 'primary'
}

function listFiles(parts: FilesApiParts, form?: WireForm): Operation {
  return {
    name: 'files.list',
    permission: 'files:read',
    // N3: the documents do not say how a page token is sent back.
    assumes: (wanted) => [...(wanted === 'alternative' ? ['N3'] : []), 'N4', 'N5', 'N6'],
    ...(form === undefined ? {} : { form }),
    run(call) {
      refuseSwitchedOff(call, form ?? 'primary')
      const asked = readListRequest(call, form ?? 'primary')
      const folder = findFolder(parts.index, asked)
      const query = { ...asked, storage: asked.service, path: folder, offset: (asked.page - 1) * asked.limit }
      const entries = parts.index.page(query).map(toWireEntry)
      const totalItems = parts.index.count(query)
      const totalPages = Math.ceil(totalItems / asked.limit)
      const { page, limit } = asked
      return wrapList(call.form, entries, {
        pagination: call.settings.pagination ? { page, limit, totalItems, totalPages } : null,
        pageToken: page < totalPages ? tokenOfPage(page + 1) : null,
      })
    },
  }
}

function getFile({ index, origins }: FilesApiParts): Operation {
  return {
    name: 'files.get',
    permission: 'files:read',
    assumes: () => ['N28', 'N29'],
    run(call) {
      const entry = findEntry(index, call)
      const place = `${origins().api}/storages/${entry.storage}/${encodeURIComponent(entry.id)}`
      return wrapEntry(call.form, toWireEntry(entry), {
        webViewLink: place,
        thumbnailUrl: `${place}/thumbnail`,
        owner: 'owner@sandbox.example',
        shared: false,
      })
    },
  }
}

function getDownloadUrl({ index, origins, downloadSecret }: FilesApiParts): Operation {
  return {
    name: 'files.download',
    permission: 'files:read',
    assumes: () => ['N10'],
    run(call) {
      const { storage, id, type } = findEntry(index, call)
      if (type === 'folder') throw new ApiError(400, 'invalid_request', 'A folder has no content to download.')
      const expiresAt = call.now + URL_LIFETIME_MS
      const downloadUrl = origins().download + signTicket(downloadSecret, { storage, id, expiresAt })
      return wrapData(call.form, { downloadUrl, expiresAt: isoTime(expiresAt) })
    },
  }
}

function deleteFile({ index, storages }: FilesApiParts): Operation {
  return {
    name: 'files.delete',
    permission: 'files:delete',
    assumes: () => ['N9', 'N25'],
    run(call) {
      const entry = findEntry(index, call)
      if (entry.type === 'folder' && !call.settings.deleteFolders)
        throw new ApiError(400, 'invalid_request', 'A folder cannot be deleted.', { parameter: 'fileId' })
      storages[entry.storage].removeEntry(entry)
      return wrapData(call.form, { message: `${entry.name} was deleted permanently.` })
    },
  }
}

function refuseSwitchedOff(call: Call, endpoint: WireForm): void {
  const { listEndpoint } = call.settings
  if (listEndpoint !== 'both' && listEndpoint !== endpoint)
    throw new ApiError(404, 'invalid_request', 'There is no such endpoint.')
}

function readListRequest(call: Call, endpoint: WireForm): ListRequest {
  const body = isPlainObject(call.request.body) ? call.request.body : {}
  const given: Record<string, unknown> = { ...call.request.query, ...(endpoint === 'alternative' ? body : {}) }
  const token = given.page_token ?? given.next_page_token ?? given.pageToken
  if (typeof token === 'string') given.page = pageOfToken(token)
  refuseServiceSpelling(call, given.service)
  const asked = listRequest.parse(given)
  if (call.form === 'alternative' && !asked.path.startsWith('/'))
    throw new ApiError(400, 'invalid_request', 'The path must start with "/".', { parameter: 'path' })
  call.requireStorage(asked.service)
  return asked
}

/** The normalized path of the folder to list. Throws 400 for a file, 404 for nothing. */
function findFolder(index: StorageIndex, { service, path }: ListRequest): string {
  const folder = normalizePath(path)
  const entry = index.byPath(service, folder)
  if (folder === '/' || entry?.type === 'folder') return folder
  if (entry) throw new ApiError(400, 'invalid_request', 'The path names a file.', { parameter: 'path' })
  throw new ApiError(404, 'resource_not_found', 'There is no folder at this path.', { parameter: 'path' })
}

function findEntry(index: StorageIndex, call: Call): Entry {
  const given = { ...call.request.query, fileId: call.request.params.fileId }
  refuseServiceSpelling(call, call.request.query.service)
  const { service, fileId } = fileRequest.parse(given)
  call.requireStorage(service)
  const entry = index.byId(service, fileId)
  if (entry) return entry
  throw new ApiError(404, 'resource_not_found', 'There is no file with this id in this storage.', {
    parameter: 'fileId',
  })
}

function refuseServiceSpelling(call: Call, service: unknown): void {
  const isRight = String(service).includes('_') === (call.form === 'alternative')
  if (call.settings.strictServiceNames && !isRight)
    throw new ApiError(400, 'invalid_request', 'The storage name does not match the form of the API.', {
      parameter: 'service',
    })
}
