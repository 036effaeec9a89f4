import type { Lease } from '../../runs/lease.ts'
import type { Asked, EffectAsk, EffectPermit, EffectPhase, EffectRecord, FileState } from '../../safety/effect.ts'
import type { EffectList, EffectShare, ListRoom } from '../../safety/effect-group.ts'
import type { OutsideAct } from '../../safety/ledger/outside-act.ts'
import type { EffectStop, StopScope } from '../../safety/stop.ts'
import type { SearchPart, SearchSlice } from '../search.ts'

/** Facts of an ask that are not the effect's own. Moments are epoch milliseconds. */
export interface AskOptions {
  now: number
  /** True: all of the asks are granted, or none. Default false. */
  together?: boolean
  /** Hash of the code, where the run's row has none yet. */
  codeHash?: string | undefined
  /** When an approval that this ask opens expires. */
  expiresAt: number
  /** Distinct people who have to agree to an approval that this ask opens. */
  needs: number
}

export interface EffectWrites {
  /**
   * Saves the rows of steps whose effects are about to begin and decides whether they may, in one
   * commit. A granted effect is counted and in the ledger; asked again, it is granted and counted
   * no second time.
   */
  beginEffects(lease: Lease, asks: readonly EffectAsk[], options: AskOptions): Promise<EffectPermit[]>
  /**
   * Decides about the effects of a long list that are not decided yet: counts places for all of
   * them, or for none. Places of an earlier pass that were not used are given back first.
   */
  reserveEffects(
    lease: Lease,
    list: EffectList,
    shares: readonly EffectShare[],
    options: Pick<AskOptions, 'now'>,
  ): Promise<ListRoom>
  /**
   * As {@link beginEffects} for a part of a long list; `room` is what was decided about the list.
   * Without it, asks that only limits decide are answered null, and not saved.
   */
  beginPart(
    lease: Lease,
    asks: readonly EffectAsk[],
    part: { list: EffectList; room: ListRoom | null },
    options: Omit<AskOptions, 'together'>,
  ): Promise<(EffectPermit | null)[]>
  /**
   * Appends the beginning of a delete that a person does by hand, unless a stop covers it. Returns
   * the number of its row, or the stop.
   */
  beginByHand(effect: EffectByHand): Promise<{ seq: number } | { stop: EffectStop }>
  /** Appends a call past the ledger, unless its run has a row of the same call and place. */
  noteOutside(act: OutsideAct): Promise<void>
  /** Appends the end of a delete by hand. */
  endByHand(effect: EffectByHand & EndByHand): Promise<void>
  /**
   * Lets effects that the guard holds ask again. Wakes the first of their runs, and returns how
   * many; `carryOutDecision` wakes the rest.
   */
  askAgain(): Promise<number>
  /** Holds the effects of a scope from this commit on. False when it was stopped already. */
  stopEffects(stop: EffectStop): Promise<boolean>
  /** Ends a stop. Wakes runs that stops hold, as {@link askAgain}; null when there was none. */
  resumeEffects(scope: StopScope, by: { actor: string; reason: string | null; now: number }): Promise<number | null>
}

/** A delete that a person does by hand. */
export interface EffectByHand {
  account: string
  storage: string
  /** Such as `storage_a:fil_1`. */
  target: string
  /** The state in which the person saw it, and without which it is not deleted. */
  asked: Asked
  actor: string
  reason: string | null
  at: number
}

/** The end of a delete by hand. */
export interface EndByHand {
  /** Number of the row that begins it. */
  seq: number
  outcome: string
  error: string | null
  /** The state that its look found; null where it has not looked. */
  before: FileState | null
}

/** Selects rows of the effect ledger; every part narrows. */
export interface EffectFilter {
  phases?: readonly EffectPhase[]
  /** A target such as `storage_a:fil_1`. */
  target?: string
  /** Path of a deleted file. */
  path?: string
  runId?: string
  workflow?: string
  account?: string
  class?: EffectRecord['class']
  /** Such as `deleted` or `failed`. */
  outcome?: string
  since?: number
  until?: number
}

/** A page of rows, oldest first. */
export interface EffectPage {
  /** The last row of the page before; null for the first page. */
  beyond: Pick<EffectRecord, 'at' | 'seq'> | null
  limit: number
}

/** The use of one counter of the guard. */
export interface GuardUse {
  scope: string
  /** `approved`: by a person; it fills no window. */
  class: 'delete' | 'write' | 'approved'
  window: 'hour' | 'day'
  count: number
  bytes: number
}

export interface EffectReads {
  /** Newest first; with `after` those numbered above it, in the order of their numbers. */
  listEffects(query: EffectFilter & { after?: number; limit: number }): Promise<EffectRecord[]>
  /** One slice of the rows that match, newest first; `searchPage` joins slices. */
  searchEffects(filter: EffectFilter, slice: SearchSlice): Promise<SearchPart<EffectRecord>>
  /** Oldest first, by moment and number. A rare workflow, run or file is read along its index. */
  pageEffects(query: EffectFilter & EffectPage): Promise<EffectRecord[]>
  /** The stops in force. */
  listStops(): Promise<EffectStop[]>
  /** Counters with any use in their window, by scope. */
  listGuardUse(now: number): Promise<GuardUse[]>
}
