import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as after, setImmediate as nextTurn } from 'node:timers/promises'
import type { ChangeRecorder } from './change-recorder.ts'
import { fingerprintOf, identityIn } from './fingerprint.ts'
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
interface FirstLook {
  /** Empty when there was nothing. */
  fingerprint: string
  lookedAt: number
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
  readonly #unsettled = new Map<string, FirstLook>()
  #settleTimer: NodeJS.Timeout | undefined
  #scanTimer: NodeJS.Timeout | undefined
  /** Walks of the tree follow one another. */
  #walking: Promise<void> = Promise.resolve()
  #state: 'new' | 'connecting' | 'catching up' | 'watching' | 'stopped' = 'new'

  constructor(options: WatchOptions) {
    this.storage = options.storage
    this.#options = options
    this.#hints = new FolderHints(options.storage.dir, (path) => this.#lookWhereHinted(path))
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

  #lookWhereHinted(path: string): void {
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
    const look = fingerprintOf(diskPath(this.storage.dir, path))
    const fingerprint = look?.fingerprint ?? ''
    if (fingerprint !== this.#options.index.fingerprintAt(this.storage.name, path)) {
      if (this.#state === 'connecting') this.#record(path, look)
      else if (!this.#unsettled.has(path)) this.#unsettled.set(path, { fingerprint, lookedAt: performance.now() })
      this.#settleLater()
    }
    return look?.type ?? 'nothing'
  }

  #settleLater(): void {
    const [oldest] = this.#unsettled.values()
    if (this.#settleTimer !== undefined || this.#state !== 'watching' || !oldest) return
    const waitMs = Math.max(oldest.lookedAt + this.#options.settleMs - performance.now(), 1)
    this.#settleTimer = setTimeout(() => this.#settle(), waitMs)
  }

  /**
   * The second look. What still looks the same is recorded, renames before deletions; the rest
   * waits for another look.
   */
  async #settle(): Promise<void> {
    this.#holdBackRenamed()
    const now = performance.now()
    const due = [...this.#unsettled].filter(([, first]) => now - first.lookedAt >= this.#options.settleMs)
    const ordered = [...due.filter(([, first]) => !isGone(first)), ...due.filter(([, first]) => isGone(first))]
    for (const part of chunksOf(ordered)) {
      if (this.#state === 'stopped') return
      this.#options.recorder.together(() => {
        for (const [path, first] of part) this.#lookAgain(path, first)
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
    const lookedAt = Math.max(...arrivals.map((first) => first.lookedAt))
    for (const [path, first] of [...this.#unsettled]) {
      if (!isGone(first) || first.lookedAt >= lookedAt) continue
      this.#unsettled.delete(path)
      this.#unsettled.set(path, { ...first, lookedAt })
    }
  }

  #isKnown({ fingerprint }: FirstLook): boolean {
    return this.#options.index.byIdentity(this.storage.name, identityIn(fingerprint)).length > 0
  }

  #lookAgain(path: string, first: FirstLook): void {
    const look = fingerprintOf(diskPath(this.storage.dir, path))
    const fingerprint = look?.fingerprint ?? ''
    this.#unsettled.delete(path)
    if (fingerprint === first.fingerprint) this.#record(path, look)
    else this.#unsettled.set(path, { fingerprint, lookedAt: performance.now() })
  }

  #record(path: string, look: ReturnType<typeof fingerprintOf>): void {
    const silent = this.#state === 'connecting'
    const place = { storage: this.storage.name, root: this.storage.dir, path, silent }
    if (look) this.#options.recorder.present(place, look)
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

function isGone(first: FirstLook): boolean {
  return first.fingerprint === ''
}

function chunksOf<T>(items: T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, n) => items.slice(n * CHUNK, (n + 1) * CHUNK))
}
