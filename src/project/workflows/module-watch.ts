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
const SOURCE = /\.([cm]?[jt]s|json)$/

/** Notices changed source by a hash of its content; `fs.watch` only makes it look sooner. */
export class ModuleWatch {
  readonly #folder: string
  readonly #clock: Clock
  readonly #onChange: (version: string) => Promise<void>
  #version: string | null = null
  #watcher: FSWatcher | null = null
  #checking: Promise<void> = Promise.resolve()
  #cancel = () => {}
  #isStopped = false

  constructor(parts: { folder: string; clock: Clock; onChange: (version: string) => Promise<void> }) {
    this.#folder = parts.folder
    this.#clock = parts.clock
    this.#onChange = parts.onChange
  }

  async start(): Promise<void> {
    this.#version = await this.#hash()
    if (this.#isStopped) return
    try {
      this.#watcher = watch(this.#folder, { recursive: true }, () => this.#checkIn(SETTLE_MS))
      this.#watcher.on('error', () => {})
    } catch {
      // A disk that cannot be watched is polled.
    }
    this.#checkIn(POLL_EVERY_MS)
  }

  /** Hashes now; resolves once `onChange` has handled a change. */
  check(): Promise<void> {
    this.#checking = this.#checking.then(async () => {
      const version = await this.#hash()
      if (this.#isStopped || version === this.#version) return
      this.#version = version
      await this.#onChange(version)
    })
    return this.#checking
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
      () => void this.check().then(() => this.#checkIn(POLL_EVERY_MS)),
    )
  }

  /** Covers every source file in the folder, and imported files elsewhere. */
  async #hash(): Promise<string> {
    const names = await readdir(this.#folder, { recursive: true }).catch(() => [])
    const inside = names.filter((name) => SOURCE.test(name)).map((name) => join(this.#folder, name))
    const hash = createHash('sha256')
    for (const file of [...new Set([...inside, ...listImported()])].sort()) {
      // A deleted file changes the hash, too.
      const content = await readFile(file).catch(() => 'gone')
      hash.update(`${file}\0${content.length}\0`).update(content)
    }
    return hash.digest('hex').slice(0, 16)
  }
}
