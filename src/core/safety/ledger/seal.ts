import { createHmac, timingSafeEqual } from 'node:crypto'
import type { EffectRecord } from '../effect.ts'
import { sealedTexts } from './erased-rows.ts'

/**
 * The kinds of seals. `rows` covers ledger rows, and `pruned` names those that retention removes.
 * `restored` tells of a backup in the database's place; `rekeyed` begins a new key.
 */
const SEAL_KINDS = ['rows', 'pruned', 'restored', 'rekeyed'] as const
type SealKind = (typeof SEAL_KINDS)[number]

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
  secret: Uint8Array
}

/** The MAC of a seal, over everything in it and the MAC of the one before; in hex. */
export function macOf(key: Uint8Array, seal: Omit<Seal, 'mac'>, before: string | null): string {
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
export function digestRows(key: Uint8Array, rows: readonly EffectRecord[]): string {
  const mac = createHmac('sha256', key).update('upshot rows 1\n')
  for (const row of rows) mac.update(`${describeRow(row, sealedTexts(key, row))}\n`)
  return mac.digest('hex')
}

/** Equal MACs, compared in constant time. */
export function isSameMac(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}

/** Every column, in a fixed order, with the MAC of the texts: what is not in here is not proven. */
function describeRow(row: EffectRecord, texts: string): string {
  return JSON.stringify([
    ...[row.seq, row.at, row.phase, row.ofSeq, row.class, row.account, row.bytes, row.workflow, row.runId],
    ...[row.eventSeq, row.code, row.approval, row.actor, row.outcome, row.proof, texts],
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
