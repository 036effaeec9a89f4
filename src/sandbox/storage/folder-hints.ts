import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'
import { fingerprintOf } from './fingerprint.ts'
import { diskPath } from './storage-path.ts'

/**
 * Asks the operating system to tell of changes, folder by folder. What it tells is a place to look
 * at, and no more.
 */
export class FolderHints {
  readonly #root: string
  readonly #hint: (path: string) => void
  /**
   * With the folder's identity, as the watcher of a folder that was renamed does not belong to the
   * next of that name.
   */
  readonly #watchers = new Map<string, { watcher: FSWatcher; identity: string }>()

  constructor(root: string, hint: (path: string) => void) {
    this.#root = root
    this.#hint = hint
  }

  has(folder: string): boolean {
    return this.#watchers.has(folder)
  }

  /**
   * From now on what appears in, changes in or leaves this folder is hinted at; not what happens in
   * folders in it.
   */
  watch(folder: string): void {
    const place = diskPath(this.#root, folder)
    const fingerprint = fingerprintOf(place)
    if (fingerprint?.type !== 'folder' || this.#watchers.get(folder)?.identity === fingerprint.identity) return
    this.#watchers.get(folder)?.watcher.close()
    try {
      const watcher = watch(place, { persistent: false }, (_kind, name) => name && this.#hint(join(folder, name)))
      // A folder that vanishes ends its watcher with an error; the folder above tells of it.
      watcher.on('error', () => watcher.close())
      this.#watchers.set(folder, { watcher, identity: fingerprint.identity })
    } catch {
      // The machine allows no more watchers: the regular scan finds what happens here.
      this.#watchers.delete(folder)
    }
  }

  /** For a folder that is gone, and all beneath it. */
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
