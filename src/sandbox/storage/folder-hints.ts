import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'
import { fingerprintOf } from './fingerprint.ts'
import { diskPath } from './storage-path.ts'

/** Watches folders through the operating system. A hint names a path to check, nothing more. */
export class FolderHints {
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
    const place = diskPath(this.#root, folder)
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
