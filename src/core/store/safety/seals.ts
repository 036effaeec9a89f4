import type { Seal, SealKey } from '../../safety/ledger/seal.ts'
import type { LostBegin } from '../../safety/ledger/verify-ledger.ts'

/** The end of the chain of seals. */
export interface SealState {
  /** The newest seal; null while there is none. */
  head: Seal | null
  /** Ledger rows that no seal covers; counted up to 10,000. */
  unsealed: number
  /** When the oldest of them was written, in epoch milliseconds; null without any. */
  unsealedSince: number | null
}

/** The result of sealing rows. */
export interface SealedRows {
  /** Rows that this call sealed. */
  rows: number
  /** The newest seal; null while there is none. */
  head: Seal | null
  /** True where a person's decision or switch is among them. */
  hasDecision: boolean
}

export interface SealWrites {
  /** Seals up to `limit` of the oldest ledger rows that no seal covers, in one commit. */
  sealEffects(options: { now: number; limit: number }): Promise<SealedRows>
  /**
   * Appends to ledger and chain that the database was restored from a backup. Anchors that the
   * backup does not have are no break then. Returns the seal.
   */
  noteRestored(restored: { actor: string; reason: string; now: number }): Promise<Seal>
}

export interface SealReads {
  /** Numbered above `after`, oldest first. */
  listSeals(query: { after?: number; limit: number }): Promise<Seal[]>
  /** Every key of the chain. Throws `invalid_config` where the project's key does not open one. */
  listSealKeys(): Promise<SealKey[]>
  /**
   * Steps that name the ledger row in which they began, where it is not there. Only rows above
   * `prunedTo`, in their order. Reads every step.
   */
  listLostBegins(query: { prunedTo: number; limit: number }): Promise<LostBegin[]>
  readSealState(): Promise<SealState>
}
