import { closeSync, existsSync, linkSync, openSync, readFileSync, readSync, rmSync, statSync } from 'node:fs'

/**
 * A second name of the log of an open database. SQLite removes the log once all of it is in the
 * database, and a person may before. The second name tells them apart after a crash.
 */
export function markOpen(file: string): void {
  if (inodeOf(markOf(file)) === inodeOf(logOf(file))) return
  try {
    rmSync(markOf(file), { force: true })
    linkSync(logOf(file), markOf(file))
  } catch {
    // Another process was first, or this file system has no links: then nothing is told.
  }
}

/** Called after a close: the last connection of all processes has then removed the log. */
export function unmarkOpen(file: string): void {
  if (!existsSync(logOf(file))) rmSync(markOf(file), { force: true })
}

/**
 * Whether somebody removed the log after a crash, and commits with it. Ask before the database is
 * opened. A process that was killed while it opened or closed the database leaves none behind.
 */
export function isLogMissing(file: string): boolean {
  if (!existsSync(file) || !existsSync(markOf(file)) || existsSync(logOf(file))) return false
  const database = openSync(file, 'r')
  try {
    const pages = [...readCommitted(readFileSync(markOf(file)))]
    return pages.some(([page, image]) => {
      const found = Buffer.alloc(image.length)
      readSync(database, found, 0, image.length, (page - 1) * image.length)
      return !found.equals(image)
    })
  } finally {
    closeSync(database)
  }
}

const LOG_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24

/** The pages of a log as its last commit left them. The format is that of SQLite, and stays. */
function readCommitted(log: Buffer): Map<number, Buffer> {
  const committed = new Map<number, Buffer>()
  if (log.length < LOG_HEADER_BYTES) return committed
  const pageBytes = log.readUInt32BE(8)
  const salts = log.subarray(16, 24)
  let open: [number, Buffer][] = []
  for (let at = LOG_HEADER_BYTES; ; at += FRAME_HEADER_BYTES + pageBytes) {
    const image = log.subarray(at + FRAME_HEADER_BYTES, at + FRAME_HEADER_BYTES + pageBytes)
    // Frames of an earlier round have other salts.
    if (image.length < pageBytes || !log.subarray(at + 8, at + 16).equals(salts)) return committed
    open.push([log.readUInt32BE(at), image])
    // The frame that ends a commit names the pages of the database: later ones were cut off.
    const pages = log.readUInt32BE(at + 4)
    if (pages === 0) continue
    for (const [page, content] of open) committed.set(page, content)
    for (const page of committed.keys()) if (page > pages) committed.delete(page)
    open = []
  }
}

function inodeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? null
}

function markOf(file: string): string {
  return `${file}-open`
}

function logOf(file: string): string {
  return `${file}-wal`
}
