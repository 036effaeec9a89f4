import { createHmac, hash } from 'node:crypto'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { createEraser, type Eraser } from '../../../core/safety/create-eraser.ts'
import { type ErasedMark, macTexts } from '../../../core/safety/ledger/seal.ts'
import type { TextErasure, TextKey } from '../../../core/store/search-texts.ts'
import { JoinedTable, nameOf } from '../../connection.ts'
import type { EffectSearch } from '../safety/effect-search.ts'
import type { EffectTable } from '../safety/effect-table.ts'
import type { SealTable } from '../safety/seal-table.ts'
import { LEDGER, type TextTable } from './text-columns.ts'
import { type TextSearch, textColumns } from './text-search.ts'

interface Parts {
  textSearch: TextSearch
  seals: SealTable
  effects: EffectTable
  effectSearch: EffectSearch
  /** Hashes of what events tell of, where the database keeps them. */
  subjects?: { forget(seq: number, body: { was: string; is: string }): Promise<void> }
}

type Row = Record<string, string | Uint8Array | null>

/** Rows that are sealed at once before some of them change. */
const SEALED_AT_ONCE = 1_000
/** Digits that tell one erased name from another. */
const NAME_DIGITS = 8

/** Erases words from rows, and keeps the effect ledger provable. See decision 100. */
export class TextErasures extends JoinedTable<Parts> {
  /** Erases words in one small commit; returns the rows that had them. */
  async eraseTexts(erasure: TextErasure): Promise<number> {
    const { textSearch } = this.parts
    const place = textSearch.get(erasure.table)
    await this.db.prepare(this.db.sql.wipe).get()
    if (place.table === LEDGER.table) return this.#eraseInLedger(erasure)
    const eraser = createEraser(erasure.words)
    const code = await this.#openCodes()
    let erased = 0
    for (const key of erasure.keys) erased += (await this.#eraseRow(place, key, { eraser, code })) ? 1 : 0
    if (erased > 0) await this.#noteApprovals(erasure)
    return erased
  }

  async #eraseRow(place: TextTable, key: TextKey, with_: Means): Promise<boolean> {
    const { table, packed } = place
    const columns = [...textColumns(place), ...(packed === undefined ? [] : [packed])]
    const where = place.key.map((column) => `${column} = ?`).join(' AND ')
    const row = await this.db
      .prepare<unknown[], Row>(`SELECT ${columns.join(', ')} FROM ${table} WHERE ${where} ${this.db.sql.forUpdate()}`)
      .get(...key)
    if (row === undefined) return false
    const changed = changesOf(place, row, with_)
    if (table === 'event' && typeof row.body === 'string' && changed.body !== undefined) {
      // A repetition of the event is told by this from then on.
      changed.body_hash = hash('sha256', row.body, 'buffer')
      await this.parts.subjects?.forget(Number(key[0]), { was: row.body, is: String(changed.body) })
    }
    const names = Object.keys(changed)
    if (names.length === 0) return false
    const sets = names.map((name) => (name === 'body_hash' ? `${name} = coalesce(${name}, ?)` : `${name} = ?`))
    await this.db
      .prepare<unknown[]>(`UPDATE ${table} SET ${sets.join(', ')} WHERE ${where}`)
      .run(...Object.values(changed), ...key)
    return true
  }

  /** A word of a person about text in the ledger, which has the MACs of before and after. */
  async #eraseInLedger({ words, keys, actor, reason, now }: TextErasure): Promise<number> {
    const { seals, effects, effectSearch } = this.parts
    while ((await seals.sealEffects({ now, limit: SEALED_AT_ONCE })).rows === SEALED_AT_ONCE);
    const means = { eraser: createEraser(words), code: await this.#openCodes() }
    const marks: ErasedMark[] = []
    const changes: { seq: number; was: string; changed: Row }[] = []
    for (const [seq] of keys) {
      const [row] = await effectSearch.listEffects({ after: Number(seq) - 1, limit: 1 })
      if (row === undefined || row.seq !== seq) continue
      const changed = changesOf(LEDGER, row as unknown as Row, means)
      if (Object.keys(changed).length === 0) continue
      const secret = await seals.secretOf(row.seq)
      const was = row.erased === null ? macTexts(secret, row) : readWas(row.erased)
      marks.push([row.seq, was, macTexts(secret, { ...row, ...changed } as typeof row)])
      changes.push({ seq: row.seq, was, changed })
    }
    if (changes.length === 0) return 0
    const asked = JSON.stringify({ rows: marks })
    const by = await effects.note({ at: now, phase: 'noted', operation: 'erase', actor, error: reason, asked })
    for (const { seq, was, changed } of changes) {
      const sets = [...Object.keys(changed), 'erased'].map((name) => `${name} = ?`).join(', ')
      await this.db
        .prepare<unknown[]>(`UPDATE effect SET ${sets} WHERE seq = ?`)
        .run(...Object.values(changed), JSON.stringify({ by, was }), seq)
    }
    return changes.length
  }

  /** Lists that people decided and that lost text cannot be compared: the ledger names them. */
  async #noteApprovals({ table, keys, actor, reason, now }: TextErasure): Promise<void> {
    if (!/^approval(_item|_vote)?$/.test(table)) return
    for (const approval of new Set(keys.map(([id]) => String(id)))) {
      await this.parts.effects.note({ at: now, phase: 'noted', operation: 'erase', approval, actor, error: reason })
    }
  }

  /** Equal names have equal codes in all tables. Only who has the key can test a guess. */
  async #openCodes(): Promise<Means['code']> {
    const secret = await this.parts.seals.firstSecret()
    return (match) => createHmac('sha256', secret).update(match).digest('hex').slice(0, NAME_DIGITS)
  }
}

interface Means {
  eraser: Eraser
  code: (match: string) => string
}

/** The columns of a row whose text changes, with the text of then. */
function changesOf({ texts = [], names = [], packed }: TextTable, row: Row, { eraser, code }: Means): Row {
  const changed: Row = {}
  const change = (column: string, erase: (text: string) => string) => {
    const text = row[nameOf(column)]
    if (typeof text === 'string' && eraser.isIn(text)) changed[column] = erase(text)
  }
  for (const column of texts) change(column, eraser.erase)
  for (const column of names) change(column, (text) => eraser.eraseName(text, code))
  const bytes = packed === undefined ? null : row[packed]
  if (packed !== undefined && bytes instanceof Uint8Array) {
    const text = zstdDecompressSync(bytes).toString()
    if (eraser.isIn(text)) changed[packed] = zstdCompressSync(Buffer.from(eraser.erase(text)))
  }
  return changed
}

function readWas(erased: string): string {
  return (JSON.parse(erased) as { was: string }).was
}
