import type { ServiceEvent } from '../../core/incoming/event.ts'
import { isPlainObject, parseJson } from '../../core/json.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import { findStorage, type StorageName, type StorageSpellings } from '../../core/service/storage.ts'
import { readIso } from '../../core/time.ts'
import { isSecretName, REDACTED } from '../../engine/preview/portable.ts'

/** A file or folder that an event, or a read of its runs, names. Null: none tells. */
export interface NamedFile {
  storage: StorageName
  /** Null where only its path is known. */
  id: string | null
  /** Null where only its id is known. */
  path: string | null
  type: 'file' | 'folder'
  /** Bytes. */
  size: number | null
  /** Epoch milliseconds. */
  createdAt: number | null
  /** Epoch milliseconds. */
  modifiedAt: number | null
  sha256: string | null
  /** A file of this machine with its bytes; absent: they are made up. */
  from?: string
}

export type ReadStep = Pick<Checkpoint, 'key' | 'target' | 'status' | 'output'>

/**
 * The files that an event and the recorded steps of its runs name, each as it was told first. Steps
 * are given in the order in which they began. A file that the event calls deleted is left out.
 */
export function gatherFiles(
  event: Pick<ServiceEvent, 'type' | 'data'>,
  steps: readonly ReadStep[],
  spellings: StorageSpellings,
): NamedFile[] {
  const found = new Found(spellings)
  for (const step of steps) readStep(found, step)
  if (!event.type.endsWith('.deleted')) walk(found, event.data, { storage: null, name: '' }, event.type)
  return found.files
}

function readStep(found: Found, { key, target, status, output }: ReadStep): void {
  const [, operation = ''] = /^files\.(\w+)/.exec(key) ?? []
  if (status !== 'completed' || output === null || target === null) return
  const value = parseJson(output)
  if (!isPlainObject(value)) return
  const [service = ''] = target.split(':', 1)
  if (['hash', 'download'].includes(operation)) {
    const { sha256, bytes } = value
    const id = target.slice(service.length + 1)
    if (typeof sha256 === 'string') found.note({ service, id, size: bytes }, sha256)
  } else if (['get', 'find', 'list', 'listAnew'].includes(operation)) {
    walk(found, value, { storage: found.storageOf(service), name: '' }, '')
  }
}

interface Around {
  storage: StorageName | null
  /** Name of the property that has the value. */
  name: string
}

function walk(found: Found, value: unknown, around: Around, type: string): void {
  if (Array.isArray(value)) {
    for (const item of value) walk(found, item, around, type)
  } else if (isPlainObject(value)) {
    const storage = found.storageOf(value.service) ?? around.storage
    const isNamed = around.name === 'file' || typeof value.path === 'string'
    if (storage !== null && isNamed) found.note({ ...value, service: storage }, null)
    for (const [name, item] of Object.entries(readTransfer(value, type))) walk(found, item, { storage, name }, type)
  }
}

/** A transfer tells the size of its one file beside its ends; an unfinished one has no copy yet. */
function readTransfer(value: Record<string, unknown>, type: string): Record<string, unknown> {
  const { source, destination, filesTotal, bytesTotal, type: kind } = value
  if (!isPlainObject(source) || !isPlainObject(destination)) return value
  const size = filesTotal === 1 && kind !== 'folder' ? bytesTotal : undefined
  const more = { ...(typeof size === 'number' ? { size } : {}), ...(kind === 'folder' ? { type: 'folder' } : {}) }
  const copy = type.endsWith('.completed') ? { destination: { ...more, ...destination } } : { destination: null }
  return { ...value, source: { ...more, ...source }, ...copy }
}

/** Files by storage and id, or path; what is told later only fills gaps. */
class Found {
  readonly #spellings: StorageSpellings
  readonly #byId = new Map<string, NamedFile>()
  readonly #byPath = new Map<string, NamedFile>()
  readonly files: NamedFile[] = []

  constructor(spellings: StorageSpellings) {
    this.#spellings = spellings
  }

  storageOf(name: unknown): StorageName | null {
    return typeof name === 'string' ? findStorage(name, this.#spellings) : null
  }

  note(value: Record<string, unknown>, sha256: string | null): void {
    const storage = this.storageOf(value.service)
    const id = readText(value.id) ?? readText(value.fileId)
    const given = readText(value.path)
    const path = given?.startsWith('/') ? given.replace(/(?<=.)\/+$/, '') : null
    if (storage === null || (id === null && path === null) || path === '/') return
    const type = value.type === 'folder' || given?.endsWith('/') ? 'folder' : 'file'
    const size = typeof value.size === 'number' && value.size >= 0 ? Math.floor(value.size) : null
    const [createdAt, modifiedAt] = [readMoment(value.createdAt), readMoment(value.modifiedAt)]
    this.#add({ storage, id, path, type, size, createdAt, modifiedAt, sha256 })
  }

  /** Another file at the path of one with an id is left out: two reads saw two moments. */
  #add(file: NamedFile): void {
    const { storage, id, path } = file
    const there = path === null ? undefined : this.#byPath.get(`${storage}:${path}`)
    const named = id === null ? there : this.#byId.get(`${storage}:${id}`)
    if (named === undefined && there !== undefined && there.id !== null) return
    const known = named ?? there ?? { ...file }
    if (known !== named && known !== there) this.files.push(known)
    for (const [name, value] of Object.entries(file)) fill(known, name as keyof NamedFile, value)
    if (known.id !== null) this.#byId.set(`${storage}:${known.id}`, known)
    if (known.path !== null) this.#byPath.set(`${storage}:${known.path}`, known)
  }
}

function fill(file: NamedFile, name: keyof NamedFile, value: unknown): void {
  if (file[name] === null) Object.assign(file, { [name]: value })
}

function readText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function readMoment(value: unknown): number | null {
  const moment = typeof value === 'string' ? readIso(value) : Number.NaN
  return Number.isNaN(moment) ? null : moment
}

/**
 * The body of an event for a rehearsal: without its secrets, and with our names of storages. Any
 * other body stays byte for byte.
 */
export function prepareEvent(body: string, spellings: StorageSpellings): string {
  let isChanged = false
  const changed = JSON.stringify(JSON.parse(body), (name, value: unknown) => {
    const other = replace(name, value, spellings)
    isChanged ||= other !== value
    return other
  })
  return isChanged ? changed : body
}

function replace(name: string, value: unknown, spellings: StorageSpellings): unknown {
  if (typeof value !== 'string') return value
  if (isSecretName(name)) return REDACTED
  return name === 'service' ? (findStorage(value, spellings) ?? value) : value
}
