import Database from 'better-sqlite3'
import type { BurstResult } from '../load/load-generator.ts'
import type { Target } from '../processes/child.ts'
import type { Bench } from './suite.ts'

export const CONNECTIONS = 50

/** Records for each second of a burst, more than any measured server takes. */
const MAX_PER_SECOND = 100_000

/** Records for each second of a burst to the receiver with its store, which takes fewer. */
export const MAX_STORED_PER_SECOND = 40_000

interface IngestBurst {
  receiver: Target
  file: string
  commit: 'group' | 'each'
  seconds: number
  /** First record to send. */
  from: number
  /** Records that it may send. */
  maxRecords: number
}

/** Sends bursts to a server that stores nothing: each may have the same records. */
export function sendWithoutStore(bench: Bench, url: string) {
  return (seconds: number): Promise<BurstResult> => {
    const deliveries = { ...bench.deliveries, from: 0, count: seconds * MAX_PER_SECOND }
    return bench.load.send({ url, connections: CONNECTIONS, seconds, deliveries })
  }
}

/** Sends a burst to the receiver. Throws unless the store has one row of each kind per answer. */
async function sendBurst(bench: Bench, burst: IngestBurst): Promise<BurstResult> {
  const { receiver, file, commit, seconds, from, maxRecords: count } = burst
  const url = await receiver.call<string>('start', { file, commit })
  const marks = mark(file)
  const deliveries = { ...bench.deliveries, from, count }
  const result = await bench.load.send({ url, connections: CONNECTIONS, seconds, deliveries })
  const accepted = await receiver.call<number>('stop')
  requireEqual(countSince(file, marks), accepted, result.answered)
  return result
}

/**
 * Returns a function that sends bursts to one store, each with new records. A store keeps knowing
 * an event after its row is deleted.
 */
export function freshSender(bench: Bench, to: Pick<IngestBurst, 'receiver' | 'file' | 'commit'>) {
  let sent = 0
  return (seconds: number): Promise<BurstResult> => {
    const maxRecords = seconds * MAX_STORED_PER_SECOND
    const from = sent
    sent += maxRecords
    return sendBurst(bench, { ...to, seconds, from, maxRecords })
  }
}

/** The same, but each burst deletes its rows, so that the store stays nearly empty. */
export function emptyStoreSender(bench: Bench, to: Pick<IngestBurst, 'receiver' | 'file' | 'commit'>) {
  const send = freshSender(bench, to)
  return async (seconds: number): Promise<BurstResult> => {
    const result = await send(seconds)
    const db = new Database(to.file)
    db.exec('DELETE FROM event; DELETE FROM delivery; DELETE FROM run; DELETE FROM work; DELETE FROM outcome; VACUUM;')
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

/** Reads the newest row of each table. */
function mark(file: string): Marks {
  return read(file, (db) => ({
    event: db.prepare<[], number>('SELECT coalesce(max(seq), 0) FROM event').pluck().get() ?? 0,
    delivery: db.prepare<[], string>("SELECT coalesce(max(id), '') FROM delivery").pluck().get() ?? '',
    run: db.prepare<[], string>("SELECT coalesce(max(id), '') FROM run").pluck().get() ?? '',
  }))
}

/** Rows after the marks, by table. */
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

/** A generator that stops in time may leave one delivery per connection without an answer. */
function requireEqual(stored: readonly number[], accepted: number, answered: number): void {
  const isExact = stored.every((rows) => rows === accepted)
  if (isExact && answered <= accepted && accepted <= answered + CONNECTIONS) return
  const rows = `events, deliveries and runs ${stored.join(', ')}`
  throw new Error(`Rows do not match answers: ${rows}; accepted ${accepted}; answered 200 ${answered}.`)
}
