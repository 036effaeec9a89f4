import type { StorageName } from '../storage.ts'

/** How the files of a storage are compared with the events of their account. */
export interface SweepPlan {
  account: string
  storage: StorageName
  /** Folder that is listed, absolute, with a leading `/`. */
  path: string
  /** Whether the folders below are listed, too. */
  recursive: boolean
  /** Time from the beginning of a sweep to the beginning of the next, in milliseconds. */
  everyMs: number
  /** Share of the plan's requests a minute, above 0 and at most 1. */
  budget: number
  /** Age below which nothing counts as missing, in milliseconds. */
  graceMs: number
  /** `report`: only tells what is missing. `events`: makes the missing events up. */
  repair: 'report' | 'events'
}

/** Types that tell of a file. */
export const FILE_TYPES = { created: 'file.created', deleted: 'file.deleted' } as const

export type FileType = (typeof FILE_TYPES)[keyof typeof FILE_TYPES]

/**
 * Milliseconds between two requests of a sweep. It is rounded up, so that no minute has more
 * requests than the budget.
 */
export function spacingOf({ budget }: Pick<SweepPlan, 'budget'>, perMinute: number): number {
  return Math.ceil(60_000 / (perMinute * budget))
}

/** True where the plan lists everything, so that no file can be moved into it. */
export function isWhole({ path, recursive }: Pick<SweepPlan, 'path' | 'recursive'>): boolean {
  return path === '/' && recursive
}
