import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Flushes a file to disk, or the names in a folder. */
export function syncFile(path: string): void {
  const handle = openSync(path, 'r')
  fsyncSync(handle)
  closeSync(handle)
}
