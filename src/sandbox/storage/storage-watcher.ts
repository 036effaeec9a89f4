import { type FSWatcher, watch } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as after, setImmediate as nextTurn } from 'node:timers/promises'
import { describeError } from '../../core/errors.ts'
import type { Log } from '../options.ts'
import type { ChangeRecorder } from './change-recorder.ts'
import { type Fingerprint, fingerprintOf, identityIn } from './fingerprint.ts'
import type { Storage } from './storage.ts'
import type { StorageIndex } from './storage-index.ts'
import { isIgnoredName } from './storage-path.ts'

/** The largest share of time that scans may take. */
const SCAN_SHARE = 0.05
/** Paths checked in one turn of the event loop. */
const CHUNK = 500

interface WatchOptions {
  storage: Storage
  index: StorageIndex
  recorder: ChangeRecorder
  /** Time between the two equal fingerprints that a change needs, in milliseconds. */
  settleMs: number
  scanEveryMs: number
  hints: boolean
  log: Log
}

/** The first fingerprint of a path that differs from the index; `seenAt`: `performance.now()`. */
interface Sighting {
  /** Text of the fingerprint; empty if there was nothing. */
  text: string
  seenAt: number
}

/** Notices what others do in a storage's directory, by hints and scans, on the machine's clock. */
export class StorageWatcher {
  readonly storage: Storage
  readonly #options: WatchOptions
  readonly #hints: FolderHints
  /** Paths whose change waits for its second check, oldest first. */
  readonly #unsettled = new Map<string, Sighting>()
  #settleTimer: NodeJS.Timeout | undefined
  #scanTimer: NodeJS.Timeout | undefined
  /** Walks run one after another. */
  #walking: Promise<void> = Promise.resolve()
  /** The error that hides files of the storage; null while there is none. */
  #fault: string | null = null
  #state: 'new' | 'connecting' | 'catching up' | 'watching' | 'stopped' = 'new'

  constructor(options: WatchOptions) {
    this.storage = options.storage
    this.#options = options
    this.#hints = new FolderHints(options.storage.dir, (path) => this.#checkHint(path))
  }

  /** Resolves when earlier changes are recorded, except of files still being written. */
  async start(): Promise<void> {
    this.#state = this.storage.folder.indexed ? 'catching up' : 'connecting'
    await this.catchUp()
    this.#state = 'watching'
    this.#settleLater()
    this.#scanLater(0)
  }

  /** Scans now. Resolves when changes are recorded, except of files still being written. */
  async catchUp(): Promise<void> {
    await this.scan()
    if (this.#unsettled.size === 0) return
    await after(this.#options.settleMs + 1)
    await this.#settle()
    this.#settleLater()
  }

  async stop(): Promise<void> {
    this.#state = 'stopped'
    clearTimeout(this.#settleTimer)
    clearTimeout(this.#scanTimer)
    this.#hints.close()
    await this.#walking
  }

  /** Compares the directory with the index. A difference waits for its second check. */
  scan(): Promise<void> {
    return this.#walkLater(async () => {
      const seen = new Set<string>()
      await this.#walk('/', seen)
      if (this.#state === 'stopped') return
      this.#noticeAll(this.#options.index.paths(this.storage.name).filter((path) => !seen.has(path)))
    })
  }

  #walkLater(walk: () => Promise<void>): Promise<void> {
    const walked = this.#walking.then(walk)
    this.#walking = walked.catch(() => {})
    return walked
  }

  async #walk(folder: string, seen?: Set<string>): Promise<void> {
    // Watching starts before reading, so one of the two notices a file that appears in between.
    if (this.#options.hints && this.#state !== 'stopped') this.#hints.watch(folder)
    const names = await readdir(join(this.storage.dir, folder)).catch(() => [])
    const paths = names.filter((name) => !isIgnoredName(name)).map((name) => join(folder, name))
    for (const part of chunksOf(paths)) {
      if (this.#state === 'stopped') return
      const folders = this.#noticeAll(part)
      for (const path of part) seen?.add(path)
      for (const path of folders) await this.#walk(path, seen)
      await nextTurn()
    }
  }

  #checkHint(path: string): void {
    if (this.#state === 'stopped' || isIgnoredName(basename(path))) return
    const type = this.#notice(path)
    if (type === 'nothing') this.#hints.unwatch(path)
    if (type === 'folder' && !this.#hints.has(path)) void this.#walkLater(() => this.#walk(path))
  }

  /** Checks many paths. Returns those that are folders. */
  #noticeAll(paths: string[]): string[] {
    const folders: string[] = []
    this.#options.recorder.recordAll(() => {
      for (const path of paths) if (this.#notice(path) === 'folder') folders.push(path)
    })
    return folders
  }

  /** Checks a path once. A difference from the index waits for its second check. */
  #notice(path: string): 'file' | 'folder' | 'nothing' {
    const fingerprint = fingerprintOf(join(this.storage.dir, path))
    const text = fingerprint?.text ?? ''
    if (text !== this.#options.index.fingerprintAt(this.storage.name, path)) {
      if (this.#state === 'connecting') this.#record(path, fingerprint)
      else if (!this.#unsettled.has(path)) this.#unsettled.set(path, { text, seenAt: performance.now() })
      this.#settleLater()
    }
    return fingerprint?.type ?? 'nothing'
  }

  #settleLater(): void {
    const [oldest] = this.#unsettled.values()
    if (this.#settleTimer !== undefined || this.#state !== 'watching' || !oldest) return
    const waitMs = Math.max(oldest.seenAt + this.#options.settleMs - performance.now(), 1)
    this.#settleTimer = setTimeout(async () => {
      await this.#logged(() => this.#settle())
      this.#settleTimer = undefined
      this.#settleLater()
    }, waitMs)
  }

  /** A full disk ends no process: the next scan sees what could not be recorded. */
  async #logged(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#options.log({ msg: 'sandbox failed', error: describeError(error) })
    }
  }

  /** The second check: records unchanged sightings, arrivals first; others wait once more. */
  async #settle(): Promise<void> {
    this.#holdBackRenamed()
    const now = performance.now()
    const due = [...this.#unsettled].filter(([, first]) => now - first.seenAt >= this.#options.settleMs)
    const ordered = [...due.filter(([, first]) => !isGone(first)), ...due.filter(([, first]) => isGone(first))]
    for (const part of chunksOf(ordered)) {
      if (this.#state === 'stopped') return
      this.#options.recorder.recordAll(() => {
        for (const [path, first] of part) this.#confirm(path, first)
      })
      await nextTurn()
    }
  }

  /** Delays deletions seen before a known file arrived elsewhere: both may be one rename. */
  #holdBackRenamed(): void {
    let seenAt = Number.NEGATIVE_INFINITY
    for (const [path, first] of this.#unsettled) {
      if (first.seenAt > seenAt && !isGone(first) && this.#isKnownElsewhere(path, first)) seenAt = first.seenAt
    }
    for (const [path, first] of [...this.#unsettled]) {
      if (!isGone(first) || first.seenAt >= seenAt) continue
      this.#unsettled.delete(path)
      this.#unsettled.set(path, { ...first, seenAt })
    }
  }

  /** A file that is written in its own place comes from no other. */
  #isKnownElsewhere(path: string, { text }: Sighting): boolean {
    const known = this.#options.index.byIdentity(this.storage.name, identityIn(text))
    return known.some((entry) => entry.path !== path)
  }

  #confirm(path: string, first: Sighting): void {
    const fingerprint = fingerprintOf(join(this.storage.dir, path))
    const text = fingerprint?.text ?? ''
    this.#unsettled.delete(path)
    if (text === first.text) this.#record(path, fingerprint)
    else this.#unsettled.set(path, { text, seenAt: performance.now() })
  }

  #record(path: string, fingerprint: Fingerprint | null): void {
    const silent = this.#state === 'connecting'
    const place = { storage: this.storage.name, root: this.storage.dir, path, silent }
    const fault = fingerprint ? null : this.storage.findFault(path)
    this.#logFault(path, fault)
    if (fingerprint) this.#options.recorder.present(place, fingerprint)
    else if (fault === null) this.#options.recorder.missing(place)
  }

  /** Logs once a storage that cannot be read: its files are neither there nor gone. */
  #logFault(path: string, fault: string | null): void {
    if (fault !== null && fault !== this.#fault) {
      this.#options.log({ msg: 'storage unreadable', storage: this.storage.name, path, error: fault })
    }
    this.#fault = fault
  }

  #scanLater(tookMs: number): void {
    if (this.#state !== 'watching') return
    const waitMs = Math.max(this.#options.scanEveryMs, tookMs / SCAN_SHARE)
    this.#scanTimer = setTimeout(async () => {
      const startedAt = performance.now()
      await this.#logged(() => this.scan())
      this.#scanLater(performance.now() - startedAt)
    }, waitMs)
  }
}

function isGone(first: Sighting): boolean {
  return first.text === ''
}

function chunksOf<T>(items: T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, n) => items.slice(n * CHUNK, (n + 1) * CHUNK))
}

/** Watches folders through the operating system. A hint names a path to check, nothing more. */
class FolderHints {
  readonly #root: string
  readonly #hint: (path: string) => void
  /** Watchers by folder. `identity` tells a renamed folder from a new one of the same name. */
  readonly #watchers = new Map<string, { watcher: FSWatcher; identity: string }>()

  constructor(root: string, hint: (path: string) => void) {
    this.#root = root
    this.#hint = hint
  }

  has(folder: string): boolean {
    return this.#watchers.has(folder)
  }

  /**
   * Watches a folder: entries that appear, change or leave. Its subfolders need watchers of their
   * own.
   */
  watch(folder: string): void {
    const place = join(this.#root, folder)
    const fingerprint = fingerprintOf(place)
    if (fingerprint?.type !== 'folder' || this.#watchers.get(folder)?.identity === fingerprint.identity) return
    this.#watchers.get(folder)?.watcher.close()
    try {
      const watcher = watch(place, { persistent: false }, (_kind, name) => name && this.#hint(join(folder, name)))
      // A folder that vanishes ends its watcher with an error; the watcher of its parent reports
      // that.
      watcher.on('error', () => watcher.close())
      this.#watchers.set(folder, { watcher, identity: fingerprint.identity })
    } catch {
      // The system allows no more watchers; scans find changes here.
      this.#watchers.delete(folder)
    }
  }

  /** Stops watching a folder that is gone, and all beneath it. */
  unwatch(folder: string): void {
    for (const [path, { watcher }] of this.#watchers) {
      if (path !== folder && !path.startsWith(`${folder}/`)) continue
      watcher.close()
      this.#watchers.delete(path)
    }
  }

  close(): void {
    for (const { watcher } of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }
}
