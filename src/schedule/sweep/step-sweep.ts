import type { FileEntry } from '../../core/service/file.ts'
import { type SweepPlan, spacingOf } from '../../core/service/sweep/sweep-plan.ts'
import { beginSweep, isDue, newState } from '../../core/service/sweep/sweep-state.ts'
import type { KeptSweep, ListedFile } from '../../core/store/sweeps.ts'
import { judgeNext } from './judge-next.ts'
import { claimRequest, noteFailure, publishEnd, type SweepParts, type SweptFiles } from './sweep-parts.ts'

/**
 * Goes one request further in the sweep of a storage. The moment at which it wants to go on; null
 * where that is far away.
 */
export async function stepSweep(plan: SweepPlan, parts: SweepParts): Promise<number | null> {
  const now = parts.clock.now()
  const kept = await openSweep(plan, parts)
  const { state } = kept
  if (state.owner !== parts.owner && state.owner !== null && now < state.leaseUntil) return null
  if (state.phase === 'idle' && !isDue(state, plan, now)) return state.startedAt + plan.everyMs
  if (now < state.nextAt) return state.nextAt
  if (state.phase === 'judging') return judgeNext(plan, parts, kept)
  const files = await parts.filesOf(plan.account)
  const begun = state.phase === 'idle' ? beginSweep(state, now) : state
  const claimed = await claimRequest({ ...kept, state: begun }, parts, spacingOf(plan, files.perMinute))
  return claimed && listPage(plan, parts, claimed, files)
}

async function openSweep(plan: SweepPlan, { store }: SweepParts): Promise<KeptSweep> {
  const { account, storage, path, recursive } = plan
  const kept = await store.loadSweep(account, storage)
  const before = kept?.state ?? null
  const isSame = before?.scope.path === path && before.scope.recursive === recursive
  const state = before !== null && isSame ? before : newState(plan, before)
  return { account, storage, state, version: kept?.version ?? 0, forgottenTo: kept?.forgottenTo ?? null }
}

async function listPage(
  plan: SweepPlan,
  parts: SweepParts,
  kept: KeptSweep,
  files: SweptFiles,
): Promise<number | null> {
  const { storage: service, path, recursive } = plan
  const { page, token } = kept.state
  const place = { page, ...(token === null ? {} : { pageToken: token }) }
  let listed: Awaited<ReturnType<SweptFiles['list']>>
  try {
    listed = await files.list({ service, path, recursive, sort: 'createdAt', limit: 100, ...place })
  } catch (error) {
    return noteFailure(parts, kept, error)
  }
  const { items, nextPage, totalItems, nextToken } = listed
  const facts = { nextPage, totalItems, nextToken, entries: items.length }
  const saved = await parts.store.savePage(kept, facts, items.map(asListed), parts.clock.now())
  if (saved?.state.phase === 'idle') publishEnd(parts.publish, saved)
  return saved === null ? null : saved.state.nextAt
}

function asListed({ id, path, size, type, createdAt, modifiedAt }: FileEntry): ListedFile {
  const moment = (text: string | null) => (text === null ? null : Date.parse(text))
  return {
    ...{ file: id, path, size, isFolder: type === 'folder' },
    createdAt: moment(createdAt),
    modifiedAt: moment(modifiedAt),
  }
}
