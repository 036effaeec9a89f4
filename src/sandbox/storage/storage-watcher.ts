import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as after, setImmediate as nextTurn } from 'node:timers/promises'
import type { ChangeRecorder } from './change-recorder.ts'
import { type Fingerprint, fingerprintOf, identityIn } from './fingerprint.ts'
import { FolderHints } from './folder-hints.ts'
import type { Storage } from './storage.ts'
import type { StorageIndex } from './storage-index.ts'
import { diskPath, isPassingName } from './storage-path.ts'

/** A busy tree is scanned at most this part of the time. */
const SCAN_SHARE = 0.05
/** So many looks are taken in one turn of the event loop. */
const CHUNK = 500

export interface WatchOptions {
  storage: Storage
  index: StorageIndex
  recorder: ChangeRecorder
  /** Two looks this far apart have to agree before anything is told. */
  settleMs: number
  scanEveryMs: number
  hints: boolean
}

/**
 * How a path looked when it was first seen to differ from the index, and when
 * (`performance.now()`).
 */
interface Sighting {
  /** Empty when there was nothing. */
  text: string
  seenAt: number
}

/**
 * Notices what others do in a storage's directory. The operating system's hints say where to look;
 * a scan of everything, at the start and then regularly, finds what they missed. Hints, looks and
 * scans live on the machine's clock.
 */
export class StorageWatcher {
  readonly storage: Storage
  readonly #options: WatchOptions
  readonly #hints: FolderHints
  /** Paths that wait for their second look, oldest first. */
  readonly #unsettled = new Map<string, Sighting>()
  #settleTimer: NodeJS.Timeout | undefined
  #scanTimer: NodeJS.Timeout | undefined
  /** Walks of the tree follow one another. */
  #walking: Promise<void> = Promise.resolve()
  #state: 'new' | 'connecting' | 'catching up' | 'watching' | 'stopped' = 'new'

  constructor(options: WatchOptions) {
    this.storage = options.storage
    this.#options = options
    this.#hints = new FolderHints(options.storage.dir, (path) => this.#checkHint(path))
  }

  /** Resolves when what changed meanwhile has been told, except files still being written. */
  async start(): Promise<void> {
    this.#state = this.storage.folder.indexed ? 'catching up' : 'connecting'
    await this.catchUp()
    this.#state = 'watching'
    this.#settleLater()
    this.#scanLater(0)
  }

  /**
   * Looks everywhere now. Resolves when what has changed has been told, except files still being
   * written.
   */
  async catchUp(): Promise<void> {
    await this.scan()
    if (this.#unsettled.size === 0) return
    await after(this.#options.settleMs + 1)
    await this.#settle()
  }

  async stop(): Promise<void> {
    this.#state = 'stopped'
    clearTimeout(this.#settleTimer)
    clearTimeout(this.#scanTimer)
    this.#hints.close()
    await this.#walking
  }

  /**
   * Compares the whole directory with the index; what differs is looked at a second time before it
   * counts.
   */
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
    // The hints come before the reading: what appears in between is noticed by one of the two.
    if (this.#options.hints && this.#state !== 'stopped') this.#hints.watch(folder)
    const names = await readdir(diskPath(this.storage.dir, folder)).catch(() => [])
    const paths = names.filter((name) => !isPassingName(name)).map((name) => join(folder, name))
    for (const part of chunksOf(paths)) {
      if (this.#state === 'stopped') return
      const folders = this.#noticeAll(part)
      for (const path of part) seen?.add(path)
      for (const path of folders) await this.#walk(path, seen)
      await nextTurn()
    }
  }

  #checkHint(path: string): void {
    if (this.#state === 'stopped' || isPassingName(basename(path))) return
    const type = this.#notice(path)
    if (type === 'nothing') this.#hints.unwatch(path)
    if (type === 'folder' && !this.#hints.has(path)) void this.#walkLater(() => this.#walk(path))
  }

  /** Looks at many paths; gives back those that are folders. */
  #noticeAll(paths: string[]): string[] {
    const folders: string[] = []
    this.#options.recorder.together(() => {
      for (const path of paths) if (this.#notice(path) === 'folder') folders.push(path)
    })
    return folders
  }

  /**
   * A look at one path; when it shows something else than the index, a second has to agree. Gives
   * back what is there.
   */
  #notice(path: string): 'file' | 'folder' | 'nothing' {
    const fingerprint = fingerprintOf(diskPath(this.storage.dir, path))
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
    this.#settleTimer = setTimeout(() => this.#settle(), waitMs)
  }

  /**
   * The second look. What still looks the same is recorded, renames before deletions; the rest
   * waits for another look.
   */
  async #settle(): Promise<void> {
    this.#holdBackRenamed()
    const now = performance.now()
    const due = [...this.#unsettled].filter(([, first]) => now - first.seenAt >= this.#options.settleMs)
    const ordered = [...due.filter(([, first]) => !isGone(first)), ...due.filter(([, first]) => isGone(first))]
    for (const part of chunksOf(ordered)) {
      if (this.#state === 'stopped') return
      this.#options.recorder.together(() => {
        for (const [path, first] of part) this.#confirm(path, first)
      })
      await nextTurn()
    }
    this.#settleTimer = undefined
    this.#settleLater()
  }

  /**
   * What is gone from one place may have been noticed a moment before it was noticed at its new
   * one, and must not be told as deleted: it waits for every known file or folder that has turned
   * up somewhere and is not settled yet.
   */
  #holdBackRenamed(): void {
    const arrivals = [...this.#unsettled.values()].filter((first) => !isGone(first) && this.#isKnown(first))
    const seenAt = Math.max(...arrivals.map((first) => first.seenAt))
    for (const [path, first] of [...this.#unsettled]) {
      if (!isGone(first) || first.seenAt >= seenAt) continue
      this.#unsettled.delete(path)
      this.#unsettled.set(path, { ...first, seenAt })
    }
  }

  #isKnown({ text }: Sighting): boolean {
    return this.#options.index.byIdentity(this.storage.name, identityIn(text)).length > 0
  }

  #confirm(path: string, first: Sighting): void {
    const fingerprint = fingerprintOf(diskPath(this.storage.dir, path))
    const text = fingerprint?.text ?? ''
    this.#unsettled.delete(path)
    if (text === first.text) this.#record(path, fingerprint)
    else this.#unsettled.set(path, { text, seenAt: performance.now() })
  }

  #record(path: string, fingerprint: Fingerprint | null): void {
    const silent = this.#state === 'connecting'
    const place = { storage: this.storage.name, root: this.storage.dir, path, silent }
    if (fingerprint) this.#options.recorder.present(place, fingerprint)
    else this.#options.recorder.missing(place)
  }

  #scanLater(tookMs: number): void {
    if (this.#state !== 'watching') return
    const waitMs = Math.max(this.#options.scanEveryMs, tookMs / SCAN_SHARE)
    this.#scanTimer = setTimeout(async () => {
      const startedAt = performance.now()
      await this.scan()
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
