import { describeError } from '../../core/errors.ts'
import type { Publish } from '../../core/notices.ts'
import type { FileEntry } from '../../core/service/file.ts'
import type { ListQuery, Page } from '../../core/service/files-api.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import type { SweepPlan } from '../../core/service/sweep/sweep-plan.ts'
import { cutShort, type SweepState } from '../../core/service/sweep/sweep-state.ts'
import type { Store } from '../../core/store/store.ts'
import type { KeptSweep } from '../../core/store/sweeps.ts'
import type { Clock } from '../../core/time.ts'

/** The Files API of an account, as a sweep uses it. Each call is one request. */
export interface SweptFiles {
  list(query: ListQuery & { pageToken?: string }): Promise<Page & { nextToken: string | null }>
  /** Null where the service proves that there is no such file. */
  get(file: { service: SweepPlan['storage']; id: string }): Promise<FileEntry | null>
  /** Requests a minute that the plan of the account allows. */
  perMinute: number
  spellings: StorageSpellings
}

export interface SweepParts {
  store: Pick<
    Store,
    | 'loadSweep'
    | 'saveSweep'
    | 'savePage'
    | 'listSuspects'
    | 'listReportedFiles'
    | 'hasOwnDelete'
    | 'loadFileBook'
    | 'listFindings'
    | 'moveFinding'
    | 'listMatchCursors'
    | 'listApprovals'
    | 'listApprovers'
    | 'listVotes'
    | 'listApprovalItems'
  >
  clock: Clock
  publish: Publish
  /** Unlike that of every other process. */
  owner: string
  /** Aborts as the sweeper stops. Default: never. */
  signal?: AbortSignal
  /** `signal`: ends its requests. */
  filesOf: (account: string, signal?: AbortSignal) => Promise<SweptFiles>
  /** Of approvals that a sweep opens. */
  approvals: { expireMs: number; needs: number }
}

/** Time after which another process goes on with a sweep whose process is silent. */
const LEASE_MS = 60_000

/** Pause after a request that failed. */
const PAUSE_MS = 60_000

/** Requests in a row that may fail before the sweep ends. */
export const MAX_FAILURES = 10

/** Takes the next request before it is sent; null where another process was first. */
export async function claimRequest(
  { state, ...kept }: KeptSweep,
  { store, clock, owner }: Pick<SweepParts, 'store' | 'clock' | 'owner'>,
  spacingMs: number,
): Promise<KeptSweep | null> {
  const nextAt = clock.now() + spacingMs
  const claimed = { ...kept, state: { ...state, owner, nextAt, leaseUntil: nextAt + LEASE_MS } }
  return (await store.saveSweep(claimed)) ? { ...claimed, version: kept.version + 1 } : null
}

/**
 * A request that failed is sent again after a pause; too many of them cut the sweep short. One that
 * a stop has ended is no failure.
 */
export async function noteFailure(
  { store, clock, publish, signal }: Pick<SweepParts, 'store' | 'clock' | 'publish' | 'signal'>,
  kept: KeptSweep,
  error: unknown,
): Promise<number> {
  if (signal?.aborted) return kept.state.nextAt
  const now = clock.now()
  const nextAt = Math.max(kept.state.nextAt, now + PAUSE_MS)
  const failed: SweepState = { ...kept.state, failures: kept.state.failures + 1, nextAt }
  const { name, message } = describeError(error)
  const isOver = failed.failures >= MAX_FAILURES
  const state = isOver ? cutShort(failed, `${failed.failures} requests failed: ${name}: ${message}`, now) : failed
  const ended = { ...kept, state }
  if ((await store.saveSweep(ended)) && isOver) publishEnd(publish, ended)
  return nextAt
}

export function publishEnd(publish: Publish, { account, storage, state }: KeptSweep, held = false): void {
  const { number, files, missing, unclear, ended } = state
  publish({ kind: 'sweep.ended', account, storage, number, files, fault: ended?.fault ?? null, missing, unclear, held })
}
