import { hash } from 'node:crypto'
import { listWholeSubjects, widenSubject } from '../../../core/service/subjects.ts'
import type { SubjectBatch } from '../../../core/store/events.ts'
import { Table } from '../../connection.ts'

/** Events of one block. Its rows take some eighty pages, which a batch writes once. */
const BLOCK_EVENTS = 4_096
/** Subjects of one event that have rows of their own; one with more is found under `MANY`. */
const MAX_SUBJECTS = 64
/** Stands for every subject. No hash has this value. */
const MANY = 0

/**
 * Finds events by what they tell of. It is filled in the background, so that no delivery pays for
 * it. See decision 61.
 */
export class SubjectIndex extends Table {
  // Index: primary keys, for all of these.
  readonly #mark = this.db.pluck<[], number>('SELECT seq FROM subject_indexed')
  readonly #sizes = this.db.prepare<[number, number], { events: number; bytes: number }>(
    `SELECT count(*) AS events, coalesce(sum(octet_length(body)), 0) AS bytes
     FROM (SELECT body FROM event WHERE seq > ? ORDER BY seq LIMIT ?)`,
  )
  readonly #bodies = this.db.prepare<[number, number], { seq: number; body: string }>(
    'SELECT seq, body FROM event WHERE seq > ? ORDER BY seq LIMIT ?',
  )
  readonly #insert = this.db.prepare('INSERT OR IGNORE INTO event_subject (block, subject, seq) VALUES (?, ?, ?)')
  readonly #drop = this.db.prepare('DELETE FROM event_subject WHERE block = ? AND subject = ? AND seq = ?')
  // Compare-and-set: another process may have saved the same batch.
  readonly #saveMark = this.db.prepare(
    `INSERT INTO subject_indexed (one, seq) VALUES (1, @to)
     ON CONFLICT (one) DO UPDATE SET seq = excluded.seq WHERE seq = @after`,
  )
  // A batch of the text before, which is not saved yet, is refused then, and read again.
  readonly #stepBack = this.db.prepare(
    `INSERT INTO subject_indexed (one, seq) VALUES (1, -1)
     ON CONFLICT (one) DO UPDATE SET seq = subject_indexed.seq - 1 WHERE seq < ?`,
  )
  readonly #find = this.db.pluck<[number, string, number, number], number>(`SELECT DISTINCT seq FROM event_subject
       WHERE block = ? AND subject IN (SELECT value FROM json_each(?)) AND seq BETWEEN ? AND ?
       ORDER BY seq DESC`)

  /** The number up to which events are indexed. */
  async indexedTo(): Promise<number> {
    return (await this.#mark.get()) ?? 0
  }

  /** The size of the next batch of up to `limit` events; reads no body. */
  async measureNext(limit: number): Promise<{ events: number; bytes: number }> {
    return (await this.#sizes.get(await this.indexedTo(), limit)) ?? { events: 0, bytes: 0 }
  }

  /** The subjects of the next events that are not indexed; null where all are. */
  async readNext(limit: number): Promise<SubjectBatch | null> {
    const after = await this.indexedTo()
    const events = await this.#bodies.all(after, limit)
    const last = events.at(-1)
    if (!last) return null
    const rows = events.flatMap(({ seq, body }) => hashesOf(body).flatMap((subject) => [seq, subject]))
    return { after, to: last.seq, rows: Float64Array.from(rows) }
  }

  async save({ after, to, rows }: SubjectBatch): Promise<void> {
    if ((await this.#saveMark.run({ after, to })).changes === 0) return
    for (let at = 0; at < rows.length; at += 2) {
      const [seq = 0, subject = 0] = [rows[at], rows[at + 1]]
      await this.#insert.run(blockOf(seq), subject, seq)
    }
  }

  /** Drops the subjects that the body of an event had before a person erased text from it. */
  async forget(seq: number, { was, is }: { was: string; is: string }): Promise<void> {
    const left = new Set([MANY, ...hashesOf(is)])
    for (const subject of hashesOf(was)) if (!left.has(subject)) await this.#drop.run(blockOf(seq), subject, seq)
    await this.#stepBack.run(seq)
  }

  /**
   * Numbers of the events from `top` down to `bottom` that may tell of a subject, newest first. It
   * ends once it has `limit` of them; `reached` is the lowest number that it looked at.
   */
  async find(subject: string, { top, bottom, limit }: { top: number; bottom: number; limit: number }) {
    const found: number[] = []
    const wanted = JSON.stringify([MANY, ...widenSubject(subject).map(hashOf)])
    for (let block = blockOf(top); block >= blockOf(bottom); block--) {
      found.push(...(await this.#find.all(block, wanted, bottom, top)))
      if (found.length >= limit) return { found, reached: Math.max(bottom, block * BLOCK_EVENTS) }
    }
    return { found, reached: bottom }
  }
}

/** The block below which all rows of events up to `seq` are. */
export function blockOf(seq: number): number {
  return Math.floor(seq / BLOCK_EVENTS)
}

function hashesOf(body: string): number[] {
  if (body === '') return []
  const subjects = listWholeSubjects(JSON.parse(body).data)
  return subjects.length > MAX_SUBJECTS ? [MANY] : subjects.map(hashOf)
}

/** 48 bits of a hash; each event that has it is compared by its body. */
function hashOf(subject: string): number {
  return hash('sha256', subject, 'buffer').readUIntBE(0, 6) || 1
}
