/** Distinct files that a run has listed in a folder and below it. */
export interface FolderCount {
  folder: string
  listed: number
}

/** An index of PostgreSQL takes no text of more than 2,704 bytes: see `shorten`. */
const MAX_FOLDER = 800

/**
 * The folder of a path, and `/` for one in none; null for no path. Of a longer folder, it is the
 * deepest one within the first 800 characters.
 */
export function folderOf(path: string | null): string | null {
  return path === null ? null : path.slice(0, Math.max(1, path.lastIndexOf('/', MAX_FOLDER)))
}

/** A folder and all above it, from `/` on; only that for null. */
export function foldersAbove(folder: string | null): string[] {
  const names = (folder ?? '').split('/').filter((name) => name !== '')
  return ['/', ...names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)]
}
