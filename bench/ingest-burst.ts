import Database from 'better-sqlite3'
import type { Bench } from './bench.ts'
import type { Target } from './child.ts'
import type { BurstResult } from './load.ts'

export const CONNECTIONS = 50

/**
 * More than any server here takes in a second: so many records are at hand for each second of a
 * burst.
 */
export const MAX_PER_SECOND = 60_000

/** More than the receiver stores in a second. */
export const MAX_STORED_PER_SECOND = 40_000

export interface IngestBurst {
  receiver: Target
  file: string
  commit: 'group' | 'each'
  seconds: number
  /** First record to send; 0 for a store that has none. */
  from?: number
  /** Records it may send; by default as many as the seconds may need. */
  most?: number
}

/**
 * Sends a burst to the receiver on this store, and makes sure that the store has what was answered
 * and nothing else.
 */
export async function sendToStore(bench: Bench, burst: IngestBurst): Promise<BurstResult> {
  const { receiver, file, commit, seconds, from = 0 } = burst
  const url = await receiver.call<string>('start', { file, commit })
  const marks = mark(file)
  const deliveries = { ...bench.deliveries, from, count: burst.most ?? seconds * MAX_PER_SECOND }
  const result = await bench.load.send({ url, connections: CONNECTIONS, seconds, deliveries })
  const accepted = await receiver.call<number>('stop')
  requireEqual(countSince(file, marks), accepted, result.answered)
  return result
}

/**
 * Sends bursts to one store whose process and threads stay warm, each with records that no other
 * burst of it had: what a store has seen it knows, even when the rows are gone. Gives the sender of
 * the next burst.
 */
export function sendFreshRecords(bench: Bench, to: Pick<IngestBurst, 'receiver' | 'file' | 'commit'>) {
  let sent = 0
  return (seconds: number): Promise<BurstResult> => {
    const most = seconds * MAX_STORED_PER_SECOND
    const from = sent
    sent += most
    return sendToStore(bench, { ...to, seconds, from, most })
  }
}

/**
 * The same, with the rows taken out again after each burst, so that the store stays as good as
 * empty.
 */
export function sendToEmptyStore(bench: Bench, to: Pick<IngestBurst, 'receiver' | 'file' | 'commit'>) {
  const send = sendFreshRecords(bench, to)
  return async (seconds: number): Promise<BurstResult> => {
    const result = await send(seconds)
    const db = new Database(to.file)
    db.exec('DELETE FROM event; DELETE FROM delivery; DELETE FROM run; VACUUM;')
    db.pragma('wal_checkpoint(TRUNCATE)')
    db.close()
    return result
  }
}

interface Marks {
  event: number
  delivery: string
  run: string
}

/** The newest row of each table. */
function mark(file: string): Marks {
  return read(file, (db) => ({
    event: db.prepare<[], number>('SELECT coalesce(max(seq), 0) FROM event').pluck().get() ?? 0,
    delivery: db.prepare<[], string>("SELECT coalesce(max(id), '') FROM delivery").pluck().get() ?? '',
    run: db.prepare<[], string>("SELECT coalesce(max(id), '') FROM run").pluck().get() ?? '',
  }))
}

/** Rows that came after the marks, by table. */
function countSince(file: string, marks: Marks): number[] {
  return read(file, (db) => [
    db.prepare<[number], number>('SELECT count(*) FROM event WHERE seq > ?').pluck().get(marks.event) ?? 0,
    db
      .prepare<[string], number>("SELECT count(*) FROM delivery WHERE id > ? AND verdict = 'accepted'")
      .pluck()
      .get(marks.delivery) ?? 0,
    db.prepare<[string], number>('SELECT count(*) FROM run WHERE id > ?').pluck().get(marks.run) ?? 0,
  ])
}

function read<T>(file: string, query: (db: Database.Database) => T): T {
  const db = new Database(file, { readonly: true })
  try {
    return query(db)
  } finally {
    db.close()
  }
}

/**
 * A generator that stops at its time may leave one delivery per connection unanswered on its side.
 */
function requireEqual(stored: readonly number[], accepted: number, answered: number): void {
  const isExact = stored.every((rows) => rows === accepted)
  if (isExact && answered <= accepted && accepted <= answered + CONNECTIONS) return
  throw new Error(
    `Rows do not match answers: events, deliveries and runs ${stored.join(', ')}; accepted ${accepted}; answered 200 ${answered}.`,
  )
}
