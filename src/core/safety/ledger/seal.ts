import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { parseFields } from '../../json.ts'
import type { EffectRecord } from '../effect.ts'

/**
 * The kinds of seals. `rows` covers ledger rows, and `pruned` names those that retention removes.
 * `restored` tells of a backup in the database's place; `rekeyed` begins a new key.
 */
type SealKind = 'rows' | 'pruned' | 'restored' | 'rekeyed'

/** A link of the chain over the effect ledger. Its MAC covers the seal before. See decision 58. */
export interface Seal {
  /** From 1 on, without a gap. */
  number: number
  kind: SealKind
  /** Epoch milliseconds. */
  at: number
  /** Number of the key that the MAC is made with. */
  key: number
  /** The newest ledger row that is sealed; rows after it and up to the next one are the next's. */
  last: number
  /** Ledger rows of a `rows` seal; 0 for any other. */
  rows: number
  /** MAC over those rows, in hex; empty for any other kind. */
  digest: string
  /** Rows up to this one may be missing; set for `pruned` only. */
  prunedTo: number | null
  /** The person who restored it, and their reason; null for any other kind. */
  note: string | null
  /** In hex. */
  mac: string
}

export interface SealKey {
  number: number
  /** With the bytes themselves, Node 24 takes five times as long for a MAC. */
  secret: KeyObject
}

/** The MAC of a seal, over everything in it and the MAC of the one before; in hex. */
export function macOf(key: KeyObject, seal: Omit<Seal, 'mac'>, before: string | null): string {
  const { number, kind, at, key: keyNumber, last, rows, digest, prunedTo, note } = seal
  const text = JSON.stringify([
    'upshot seal 1',
    before,
    number,
    kind,
    at,
    keyNumber,
    last,
    rows,
    digest,
    prunedTo,
    note,
  ])
  return createHmac('sha256', key).update(text).digest('hex')
}

/** The MAC over ledger rows in their order, in hex. */
export function digestRows(key: KeyObject, rows: readonly EffectRecord[]): string {
  const mac = createHmac('sha256', key).update('upshot rows 1\n')
  for (const row of rows) mac.update(`${describeRow(row, sealedTexts(key, row))}\n`)
  return mac.digest('hex')
}

/** Equal MACs, compared in constant time. */
export function isSameMac(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}

/**
 * Every column, in a fixed order, with the MAC of the texts: what is not in here is not proven. The
 * event has its id, as a move to PostgreSQL gives it another number.
 */
function describeRow(row: EffectRecord, texts: string): string {
  return JSON.stringify([
    row.seq,
    row.at,
    row.phase,
    row.ofSeq,
    row.class,
    row.account,
    row.bytes,
    row.workflow,
    row.runId,
    row.eventId ?? row.eventSeq,
    row.code,
    row.approval,
    row.actor,
    row.outcome,
    row.proof,
    texts,
  ])
}

export interface SealState {
  /** The newest seal; null while there is none. */
  head: Seal | null
  /** Ledger rows that no seal covers; counted up to 10,000. */
  unsealed: number
  /** When the oldest of them was written, in epoch milliseconds; null without any. */
  unsealedSince: number | null
}

/** Number of a ledger row, the MAC of its texts as they were sealed, and of those since. */
export type ErasedMark = [seq: number, was: string, is: string]

/** The columns of a ledger row with text that a person may ask to erase. */
type Texts = Pick<EffectRecord, 'operation' | 'target' | 'path' | 'step' | 'asked' | 'expect' | 'before' | 'error'>

/** The MAC over the texts of a row, in hex. It stays where the texts go. */
export function macTexts(key: KeyObject, row: Texts): string {
  const { operation, target, path, step, asked, expect, before, error } = row
  const texts = JSON.stringify([operation, target, path, step, asked, expect, before, error])
  return createHmac('sha256', key).update('texts 1\n').update(texts).digest('hex')
}

/** The MAC of its texts as they were when the row was sealed. */
function sealedTexts(key: KeyObject, row: EffectRecord): string {
  return row.erased === null ? macTexts(key, row) : readErased(row.erased).was
}

/**
 * The row in which a person erased text of this one, and the MAC of the texts of before. No row is
 * numbered 0: somebody else wrote what cannot be read.
 */
export function readErased(erased: string): { by: number; was: string } {
  const { by, was } = parseFields(erased)
  return { by: Number(by ?? 0), was: String(was) }
}

/** Whether a person's row tells of the erasure, and the texts are those that it left. */
export function isErasedBy(word: EffectRecord | undefined, row: EffectRecord, key: KeyObject): boolean {
  if (row.erased === null || word === undefined) return false
  const { by, was } = readErased(row.erased)
  if (word.seq !== by || word.operation !== 'erase' || word.asked === null) return false
  const { rows } = parseFields(word.asked)
  const wanted = JSON.stringify([row.seq, was, macTexts(key, row)] satisfies ErasedMark)
  return Array.isArray(rows) && rows.some((mark) => JSON.stringify(mark) === wanted)
}
