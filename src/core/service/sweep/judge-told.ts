import type { FileEvent } from './file-finding.ts'
import type { KnownFile } from './judge-file.ts'
import { FILE_TYPES } from './sweep-plan.ts'
import type { SweepState } from './sweep-state.ts'

/** Time for which it is kept at least what an event told of a file. */
const KEPT_MS = 7 * 24 * 60 * 60_000

/** A file that an event told of, as sweeps know it. */
export interface JudgedFile extends Pick<KnownFile, 'firstSweep'> {
  isArrivalJudged: boolean
  isDepartureJudged: boolean
}

/**
 * The fate of a row that is not too new. `drop`: no sweep needs it. `forget`: the same, but a file
 * that comes back looks new. `known`: null where no sweep saw the file; `state`: where none runs.
 */
export function judgeTold(
  { type, at }: Pick<FileEvent, 'type' | 'at'>,
  { known, state }: { known: JudgedFile | null; state: SweepState | null },
  before: number,
): 'keep' | 'drop' | 'forget' {
  if (state === null) return 'drop'
  if (known === null) {
    if (type !== FILE_TYPES.created) return 'drop'
    return at < before ? 'forget' : 'keep'
  }
  if (type === FILE_TYPES.deleted) return known.isDepartureJudged ? 'drop' : 'keep'
  return known.isArrivalJudged || known.firstSweep <= (state.baseline ?? Infinity) ? 'drop' : 'keep'
}

/**
 * Whether a sweep may need it, whatever is known of the file. Nothing is called lost but what came
 * or went after a sweep that is remembered.
 */
export function isTooNew({ at }: Pick<FileEvent, 'at'>, state: SweepState | null, now: number): boolean {
  if (at >= now - KEPT_MS) return true
  return state !== null && state.number > 0 && at >= (state.complete[0]?.startedAt ?? state.startedAt)
}
