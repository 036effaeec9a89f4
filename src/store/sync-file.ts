import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Returns when a file is on the disk; of a folder, when the names in it are. */
export function syncFile(path: string): void {
  const handle = openSync(path, 'r')
  fsyncSync(handle)
  closeSync(handle)
}
