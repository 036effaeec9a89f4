import type { Database } from 'better-sqlite3'
import { UpshotError } from '../../../core/errors.ts'

/** A process writes its row every 10 s. One whose row is older than this is gone; milliseconds. */
const SILENT_MS = 30_000

/** Throws `conflict` where a process of any role works on the database, as its row tells. */
export function requireStopped(db: Database, now: number): void {
  const running = db.prepare<[number], number>('SELECT pid FROM process WHERE seen_at > ? LIMIT 1').pluck()
  const pid = running.get(now - SILENT_MS)
  if (pid === undefined) return
  throw new UpshotError('conflict', `Process ${pid} of the app works on the database, or was killed just now.`, {
    details: { fix: 'Stop every process of the app. One that was killed counts for 30 s.' },
  })
}
