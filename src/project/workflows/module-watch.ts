import { createHash } from 'node:crypto'
import { type FSWatcher, watch } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../core/time.ts'
import { listImported } from './import-fresh.ts'

/** Editors write a file in several strokes; the last one counts. */
const SETTLE_MS = 50
/**
 * What `fs.watch` does not tell (network disks, files outside the folder) is noticed within this.
 */
const LOOK_EVERY_MS = 1_000
const SOURCE = /\.([cm]?[jt]s|json)$/

/**
 * Notices that the source of the workflows has changed: `fs.watch` is a hint, the hash of the
 * content is the truth.
 */
export class ModuleWatch {
  readonly #folder: string
  readonly #clock: Clock
  readonly #onChange: (version: string) => Promise<void>
  #version: string | null = null
  #watcher: FSWatcher | null = null
  #looking: Promise<void> = Promise.resolve()
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
      this.#watcher = watch(this.#folder, { recursive: true }, () => this.#lookIn(SETTLE_MS))
      this.#watcher.on('error', () => {})
    } catch {
      // Not every disk can be watched; looking now and then is enough.
    }
    this.#lookIn(LOOK_EVERY_MS)
  }

  /** Looks now; resolves when whatever changed has been taken in. */
  look(): Promise<void> {
    this.#looking = this.#looking.then(async () => {
      const version = await this.#hash()
      if (this.#isStopped || version === this.#version) return
      this.#version = version
      await this.#onChange(version)
    })
    return this.#looking
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel()
    this.#watcher?.close()
    await this.#looking
  }

  #lookIn(ms: number): void {
    this.#cancel()
    if (this.#isStopped) return
    this.#cancel = this.#clock.at(
      this.#clock.now() + ms,
      () => void this.look().then(() => this.#lookIn(LOOK_EVERY_MS)),
    )
  }

  /** Of every source file in the folder, and of those elsewhere that they import. */
  async #hash(): Promise<string> {
    const names = await readdir(this.#folder, { recursive: true }).catch(() => [])
    const inside = names.filter((name) => SOURCE.test(name)).map((name) => join(this.#folder, name))
    const hash = createHash('sha256')
    for (const file of [...new Set([...inside, ...listImported()])].sort()) {
      // A file that is gone counts, too.
      const content = await readFile(file).catch(() => 'gone')
      hash.update(`${file}\0${content.length}\0`).update(content)
    }
    return hash.digest('hex').slice(0, 16)
  }
}
