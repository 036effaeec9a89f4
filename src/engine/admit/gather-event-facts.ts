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
  {
    store,
    clock,
    spellingsOf = () => ({}),
  }: Pick<WorkerParts, 'clock' | 'spellingsOf'> & { store: Pick<WorkerParts['store'], 'listDeletes'> },
): Promise<EventFacts | Extract<RunOutcome, { kind: 'parked' }>> {
  const account = accountOf(cause)
  const spellings = await spellingsOf(account)
  if (cause.kind !== 'event' || cause.event.type !== 'file.deleted') return { isSelfCaused: false, spellings }
  const targets = targetsOf(cause.event, spellings)
  const deletes = await store.listDeletes(account, targets)
  const now = clock.now()
  const verdict = decideSelfCaused(cause.event, deletes, now)
  if (verdict !== 'open') return { isSelfCaused: verdict === 'yes', spellings }
  const pauseMs = Math.max(CHECK_AGAIN_MS, Math.floor((now - cause.event.receivedAt) * SHARE_OF_AGE))
  const reason = `a delete of ${targets[0]} by a run is still under way; it decides whether this event is self-caused`
  return { kind: 'parked', dueAt: Math.max(nextMoment(deletes), now + pauseMs), reason }
}

/** The targets that a delete step of this file may have: with our storage name or the service's. */
export function targetsOf({ body }: EventRecord, spellings: StorageSpellings): string[] {
  const deletion = readDeletion(body)
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
