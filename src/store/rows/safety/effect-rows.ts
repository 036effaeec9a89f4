import { isPlainObject } from '../../../core/json.ts'
import type { Checkpoint } from '../../../core/runs/step.ts'
import type { SavedWithStep } from '../../../core/runs/wait.ts'
import type { EffectRecord, FileState } from '../../../core/safety/effect.ts'
import { STORAGES } from '../../../core/service/storage.ts'

/** The rows of a delete, as far as a step can be made of them. */
export type LedgerDelete = Pick<
  EffectRecord,
  'seq' | 'at' | 'phase' | 'ofSeq' | 'step' | 'target' | 'outcome' | 'proof' | 'error'
>

/** The end of a step, in the words of the ledger. */
export function endOf({ key, kind, error, finishedAt, startedAt }: Checkpoint) {
  const message = error === null ? null : `${error.name}: ${error.message}`
  return {
    endedAt: finishedAt ?? startedAt,
    operation: kind === 'run' ? key.replace(/\[.*$/s, '') : kind,
    error: message,
  }
}

/** A state of a file as the ledger keeps it: JSON text. */
export function describeState({ path, bytes, modifiedAt }: FileState): string {
  return JSON.stringify({ path, bytes, modifiedAt })
}

/** The step of a delete, as far as the ledger knows it. */
export function toStep({ at, step, target }: LedgerDelete, end: LedgerDelete | undefined): Checkpoint {
  const [, name = 'Error', message = ''] = /^([^:]+): (.*)$/s.exec(end?.error ?? '') ?? []
  const status = end === undefined ? 'started' : end.outcome === 'failed' ? 'failed' : 'completed'
  return {
    ...{ key: step ?? '', position: 0, kind: 'run', effect: 'delete', status, attempt: 1, target },
    output: status === 'completed' ? JSON.stringify({ outcome: end?.outcome, proof: end?.proof }) : null,
    error: status === 'failed' ? { name, message } : null,
    ...{ startedAt: at, finishedAt: end?.at ?? null, dueAt: null },
  }
}

/** The outcome that a Files call reports; `done` or `failed` for any other step. */
export function readEnd({ status, output }: Checkpoint): { outcome: string | null; proof: string | null } {
  if (status === 'failed') return { outcome: 'failed', proof: null }
  const result: unknown = output !== null && output.length < 1_000 ? JSON.parse(output) : null
  if (!isPlainObject(result) || typeof result.outcome !== 'string') return { outcome: 'done', proof: null }
  return { outcome: result.outcome, proof: typeof result.proof === 'string' ? result.proof : null }
}

/** True where the end of a step ends an effect: a delete, or a write with a target. */
export function isInLedger({ status, effect, target }: Checkpoint, saved: SavedWithStep | undefined): boolean {
  if (effect === 'read' || (status !== 'completed' && status !== 'failed')) return false
  return effect === 'delete' || target !== null || saved?.effect !== undefined
}

/** The storage of a target such as `storage_a:fil_1`; null for any other. */
export function storageOf(target: string | null) {
  return STORAGES.find((storage) => target?.startsWith(`${storage}:`)) ?? null
}

/** A row with null for every column that is left out. */
export function nulls<T extends object>(row: T): { [Key in keyof T]: Exclude<T[Key], undefined> | null } {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? null])) as never
}

/** A row that tells of a person, not of a run. */
export type Note = Partial<EffectRecord> & Pick<EffectRecord, 'at' | 'phase' | 'operation'>

/** The facts for the ledger that come with a step. */
export type StepFacts = NonNullable<SavedWithStep['effect']>

/** A permit, as the row that begins an effect keeps it. */
export interface Grant {
  approval: string | null
  /** The people who approved it; null without an approval. */
  by: readonly string[] | null
  /** The state that the approval is for; null without one. */
  expect: FileState | null
  now: number
}

export interface Begun {
  at: number
  class: 'delete' | 'write'
  account: string
  target: string | null
  path: string | null
  bytes: number | null
  workflow: string
  code: string | null
  event_seq: number | null
  approval: string | null
  actor: string | null
}

/** A row of a call past the ledger; index effect_run. */
export const FIND_NOTED =
  "SELECT seq FROM effect WHERE run_id = ? AND phase = 'noted' AND operation = ? AND outcome = ?"
