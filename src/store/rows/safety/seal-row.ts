import type { Seal, SealKind } from '../../../core/safety/ledger/seal.ts'

export interface SealRow {
  number: number
  kind: SealKind
  at: number
  key: number
  last: number
  rows: number
  digest: Buffer
  pruned_to: number | null
  note: string | null
  mac: Buffer
}

export function readSeal({ digest, mac, pruned_to: prunedTo, ...rest }: SealRow): Seal {
  return { ...rest, digest: digest.toString('hex'), prunedTo, mac: mac.toString('hex') }
}
