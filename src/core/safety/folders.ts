/** Distinct files that a run has listed in a folder and below it. */
export interface FolderCount {
  folder: string
  listed: number
}

/** The folder of a path, and `/` for one in none; null for no path. */
export function folderOf(path: string | null): string | null {
  return path === null ? null : path.slice(0, Math.max(1, path.lastIndexOf('/')))
}

/** A folder and all above it, from `/` on; only that for null. */
export function foldersAbove(folder: string | null): string[] {
  const names = (folder ?? '').split('/').filter((name) => name !== '')
  return ['/', ...names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)]
}
