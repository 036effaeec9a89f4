import type { EventRecord } from '../../core/incoming/event.ts'
import { parseEvent } from '../../core/incoming/parse-event.ts'
import { accountOf, type ClaimedRun } from '../../core/runs/claim.ts'
import type { RunOutcome } from '../../core/runs/run.ts'
import { decideSelfCaused, parseDeletion } from '../../core/runs/self-caused.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import { findStorage, type StorageSpellings } from '../../core/service/storage.ts'

import type { WorkerParts } from '../worker-parts.ts'

/** Facts about an event that its own text does not say. */
export interface EventFacts {
  isSelfCaused: boolean
  spellings: StorageSpellings
}

type Parked = Extract<RunOutcome, { kind: 'parked' }>
type FactParts = Pick<WorkerParts, 'clock' | 'spellingsOf'> & { store: Pick<WorkerParts['store'], 'listDeletes'> }

/**
 * A run that waits for a delete of ours looks again after this long, or at the next attempt. For an
 * older event it is a share of the age: thousands of deletes may be under way.
 */
const CHECK_AGAIN_MS = 1_000
const SHARE_OF_AGE = 1 / 4

/**
 * Gathers the facts, or parks the run where a delete of ours has to end first. The facts are the
 * same in every pass, because a finished delete never changes.
 */
export async function gatherEventFacts(
  { cause }: Pick<ClaimedRun, 'cause'>,
  parts: FactParts,
): Promise<EventFacts | Parked> {
  const account = accountOf(cause)
  if (cause.kind === 'event') {
    const facts = await gatherBatchFacts(account, [cause.event], parts)
    if ('kind' in facts) return facts
    const [own] = facts.values()
    if (own) return own
  }
  return { isSelfCaused: false, spellings: (await parts.spellingsOf?.(account)) ?? {} }
}

/** The same for events of one account, in their order, with one read for all. */
export async function gatherBatchFacts(
  account: string,
  events: readonly EventRecord[],
  { store, clock, spellingsOf = () => ({}) }: FactParts,
): Promise<ReadonlyMap<EventRecord, EventFacts> | Parked> {
  const spellings = await spellingsOf(account)
  const targets = new Map(events.map((event) => [event, targetsOf(event, spellings)]))
  const all = [...targets.values()].flat()
  const deletes = all.length === 0 ? [] : await store.listDeletes(account, all)
  const byTarget = Map.groupBy(deletes, ({ target }) => target)
  const now = clock.now()
  const facts = new Map<EventRecord, EventFacts>()
  for (const [event, own] of targets) {
    const ofEvent = own.flatMap((target) => byTarget.get(target) ?? [])
    const verdict = decideSelfCaused(event, ofEvent, now)
    if (verdict === 'open') return parkUntilEnd(event, { target: own[0], deletes: ofEvent, now })
    facts.set(event, { isSelfCaused: verdict === 'yes', spellings })
  }
  return facts
}

function parkUntilEnd(
  { receivedAt }: EventRecord,
  { target, deletes, now }: { target: string | undefined; deletes: readonly Checkpoint[]; now: number },
): Parked {
  const pauseMs = Math.max(CHECK_AGAIN_MS, Math.floor((now - receivedAt) * SHARE_OF_AGE))
  const reason = `a delete of ${target} by a run is still under way; it decides whether this event is self-caused`
  return { kind: 'parked', dueAt: Math.max(nextMoment(deletes), now + pauseMs), reason }
}

/**
 * The targets that a delete step of this file may have: with our storage name or the service's.
 * None for other events than `file.deleted`.
 */
export function targetsOf({ type, body }: EventRecord, spellings: StorageSpellings): string[] {
  const deletion = type === 'file.deleted' ? readDeletion(body) : null
  if (!deletion) return []
  const services = new Set([findStorage(deletion.service, spellings) ?? deletion.service, deletion.service])
  return [...services].map((service) => `${service}:${deletion.id}`)
}

/** Null also for a body that is not an event: admission reports that later. */
function readDeletion(body: string): ReturnType<typeof parseDeletion> {
  try {
    return parseDeletion(parseEvent(JSON.parse(body)))
  } catch {
    return null
  }
}

function nextMoment(deletes: readonly Checkpoint[]): number {
  return Math.min(...deletes.filter(({ finishedAt }) => finishedAt === null).map(({ dueAt }) => dueAt ?? 0))
}
