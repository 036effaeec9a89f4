import type { MatchResult } from '../../../core/runs/matching.ts'
import type { StoreWrites } from '../../../core/store/store.ts'
import { DueShare } from '../../tables/runs/due-share.ts'
import type { Park } from '../../tables/runs/run-table.ts'

/** `fresh`: any, but due runs come last. */
export type ClaimKind = 'any' | 'fresh' | 'suspect' | 'unadmitted'

/** Every so many claims, one begins at the head of the queue. */
const CLAIMS_BEHIND = 50
/** So does one that comes so many milliseconds after the last such claim. */
const BEHIND_MS = 1_000
/** A claim looks once for each marked turn. */
const MAX_TURNS = 16

/** Where a claim begins in the queue. */
export interface ClaimStart {
  /** The marked turns, lowest first, and the newest run that was claimed of each. */
  turns: readonly number[]
  after: readonly string[]
  /** When the last due run was due that was claimed; null: none was. */
  due: number | null
  round: number
}

/** A claimed run, as far as marks need it. */
export interface PassedRun {
  id: string
  /** Null where it was due. */
  passedTurn: number | null
  /** When the last due run of its claim was due; null where none was. */
  passedDue: number | null
  /** Its claim also looked at what stands before the marks. */
  isWhole: boolean
}

/** Writes after which no older run is pending, unless one gets the place of a limited run. */
const GIVING_NONE_BACK: readonly (keyof StoreWrites)[] = [
  'beginEffects',
  'beginPart',
  'noteSeen',
  'postponeRun',
  'reserveEffects',
  'saveCapture',
  'saveCheckpoint',
  'saveRefusal',
  'saveProgress',
  'saveTags',
]

/** Whether an older run may be pending after a write. All others but these frequent ones may. */
export function mayGiveBack(name: keyof StoreWrites, args: readonly unknown[], value: unknown): boolean {
  if (name === 'watchRun') return value === false
  // An event that the run awaits may be there already.
  if (name === 'parkRun') return ((args[1] as Park).awaits ?? []).length > 0
  if (name === 'saveMatches') {
    const { resolved, canceled } = value as MatchResult
    return resolved + canceled.length > 0
  }
  return !GIVING_NONE_BACK.includes(name)
}

/**
 * How far this process has claimed the queue, in its memory. Marks are hints: a claim that finds
 * too few runs behind them looks before them, too. See decision 93.
 */
export class ClaimMarks {
  readonly #any = new Marks()
  readonly #kinds = { any: this.#any, fresh: this.#any, unadmitted: new Marks(), suspect: new Marks() }
  readonly #dueShare = new DueShare()

  /** How a claim of this kind looks now. */
  kindOf(kind: ClaimKind): ClaimKind {
    return kind === 'any' && this.#dueShare.isUsed ? 'fresh' : kind
  }

  /** The start of the next claim. */
  next(kind: ClaimKind, now: number): ClaimStart {
    return this.#kinds[kind].next(now)
  }

  /** Moves the marks behind what a claim for `limit` runs got, if there may be more. */
  note(kind: ClaimKind, start: ClaimStart, claimed: { passed: readonly PassedRun[]; limit: number }): void {
    const { passed, limit } = claimed
    if (kind === 'any') this.#dueShare.note(passed.length >= limit && passed.every((run) => run.passedTurn === null))
    // Due runs came last, so what was claimed is no mark.
    if (kind === 'fresh') this.#dueShare.note(false)
    else this.#kinds[kind].note(start, claimed)
  }

  noteMade(rank: number, id: string): void {
    for (const marks of Object.values(this.#kinds)) marks.noteMade(2 * rank, id)
  }

  /** Older runs may be back: the next claim begins at the head. */
  drop(): void {
    for (const marks of Object.values(this.#kinds)) marks.drop()
  }
}

class Marks {
  readonly #after = new Map<number, string>()
  #due: number | null = null
  /** Claims until one begins at the head. */
  #left = 0
  #begunAt = 0
  /** Claims that began in an earlier round move no mark. */
  #round = 0

  next(now: number): ClaimStart {
    const age = now - this.#begunAt
    if (this.#left === 0 || age < 0 || age >= BEHIND_MS) {
      this.drop()
      this.#left = CLAIMS_BEHIND
      this.#begunAt = now
    }
    this.#left -= 1
    const marks = [...this.#after].sort(([one], [other]) => one - other)
    const [turns, after] = [marks.map(([turn]) => turn), marks.map(([, id]) => id)]
    return { turns, after, due: this.#due, round: this.#round }
  }

  note({ round }: ClaimStart, { passed, limit }: { passed: readonly PassedRun[]; limit: number }): void {
    if (round !== this.#round) return
    if (passed.length < limit || passed.some(({ isWhole }) => isWhole)) this.drop()
    else for (const run of passed) this.#move(run)
  }

  #move({ id, passedTurn: turn, passedDue: due }: PassedRun): void {
    if (due !== null) this.#due = Math.max(this.#due ?? due, due)
    // Those with a place are few, and whoever lets one in, it is claimed next.
    if (turn === null || turn % 2 !== 0) return
    const mark = this.#after.get(turn)
    if (mark === undefined ? this.#after.size < MAX_TURNS : mark < id) this.#after.set(turn, id)
  }

  noteMade(turn: number, id: string): void {
    const mark = this.#after.get(turn)
    if (mark === undefined || mark < id) return
    this.#after.delete(turn)
    this.#round += 1
  }

  drop(): void {
    this.#after.clear()
    this.#due = null
    this.#left = 0
    this.#round += 1
  }
}
