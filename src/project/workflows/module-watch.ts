import { createHash } from 'node:crypto'
import { type FSWatcher, watch } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../core/time.ts'
import { listImported } from './import-fresh.ts'

/** Editors write a file in several steps; only the last one should load it. */
const SETTLE_MS = 50
/** Poll interval for changes that `fs.watch` misses: network disks, files outside the folder. */
const POLL_EVERY_MS = 1_000
/** Thousands of files take long to read: the pause is so many times as long, up to this. */
const PAUSE_TIMES = 20
const MAX_PAUSE_MS = 10_000
const SOURCE = /\.([cm]?[jt]s|json)$/

/** Notices changed source by a hash of its content; `fs.watch` only makes it look sooner. */
export class ModuleWatch {
  readonly #folder: string
  readonly #clock: Clock
  readonly #onChange: (version: string) => Promise<void>
  readonly #onFault: (error: unknown) => void
  readonly #before: string | null
  #version: string | null = null
  #watcher: FSWatcher | null = null
  #checking: Promise<void> = Promise.resolve()
  #cancel = () => {}
  #pauseMs = POLL_EVERY_MS
  #isStopped = false

  constructor(parts: {
    folder: string
    clock: Clock
    /** Where it rejects, the next check calls it again. */
    onChange: (version: string) => Promise<void>
    onFault: (error: unknown) => void
    /** `hashFolder` from before the modules were loaded; null: unknown. */
    before?: string | null
  }) {
    this.#before = parts.before ?? null
    this.#folder = parts.folder
    this.#clock = parts.clock
    this.#onChange = parts.onChange
    this.#onFault = parts.onFault
  }

  /** A change since `hashFolder` gave `before`, so while modules were loaded, counts as well. */
  async start(): Promise<void> {
    this.#version = await this.#hash()
    const isChanged = this.#before !== null && (await hashFolder(this.#folder)) !== this.#before
    if (this.#isStopped) return
    if (isChanged) this.#checking = this.#tell(this.#version)
    try {
      this.#watcher = watch(this.#folder, { recursive: true }, () => this.#checkIn(SETTLE_MS))
      this.#watcher.on('error', () => {})
    } catch {
      // A disk that cannot be watched is polled.
    }
    this.#checkIn(this.#pauseMs)
  }

  /** Hashes now; resolves once `onChange` has handled a change. */
  check(): Promise<void> {
    this.#checking = this.#checking.then(async () => {
      const version = await this.#hash()
      if (this.#isStopped || version === this.#version) return
      await this.#tell(version)
    })
    return this.#checking
  }

  async #tell(version: string): Promise<void> {
    try {
      this.#version = version
      await this.#onChange(version)
    } catch (error) {
      this.#version = null
      this.#onFault(error)
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel()
    this.#watcher?.close()
    await this.#checking
  }

  #checkIn(ms: number): void {
    this.#cancel()
    if (this.#isStopped) return
    this.#cancel = this.#clock.at(
      this.#clock.now() + ms,
      () => void this.check().then(() => this.#checkIn(this.#pauseMs)),
    )
  }

  /** Covers every source file in the folder, and imported files elsewhere. */
  async #hash(): Promise<string> {
    const startedAt = performance.now()
    const version = await hashFiles([...(await listSources(this.#folder)), ...listImported()])
    const pauseMs = PAUSE_TIMES * (performance.now() - startedAt)
    this.#pauseMs = Math.min(Math.max(POLL_EVERY_MS, pauseMs), MAX_PAUSE_MS)
    return version
  }
}

export async function hashFolder(folder: string): Promise<string> {
  return hashFiles(await listSources(folder))
}

async function listSources(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  return names.filter((name) => SOURCE.test(name)).map((name) => join(folder, name))
}

async function hashFiles(files: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const file of [...new Set(files)].sort()) {
    // A deleted file changes the hash, too.
    const content = await readFile(file).catch(() => 'gone')
    hash.update(`${file}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex').slice(0, 16)
}
