import { existsSync, rmSync, writeFileSync } from 'node:fs'

/**
 * A file beside a database that exists while the database is open. After a crash it tells whether
 * the log that SQLite left behind is still there.
 */
export function markOpen(file: string): void {
  writeFileSync(markOf(file), 'This file exists while the database is open, and after a crash.\n', { mode: 0o600 })
}

/** Called after a close: the last connection of all processes has then removed the log. */
export function unmarkOpen(file: string): void {
  if (!existsSync(logOf(file))) rmSync(markOf(file), { force: true })
}

/**
 * Whether a crash left the database without its log, so that the newest commits are lost. Ask
 * before the database is opened.
 */
export function isLogMissing(file: string): boolean {
  return existsSync(file) && existsSync(markOf(file)) && !existsSync(logOf(file))
}

function markOf(file: string): string {
  return `${file}-open`
}

function logOf(file: string): string {
  return `${file}-wal`
}
