import { type EventRecord, parseEvent } from '../../core/incoming/event.ts'
import { accountOf, type ClaimedRun } from '../../core/runs/claim.ts'
import type { RunOutcome } from '../../core/runs/run.ts'
import { decideSelfCaused, parseDeletion } from '../../core/runs/self-caused.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import { findStorage, type StorageSpellings } from '../../core/service/storage.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'

/** How the service spells the storages of an account. */
export type SpellingsOf = (account: string) => StorageSpellings | Promise<StorageSpellings>

/** What an event's own text does not say. */
export interface EventFacts {
  isSelfCaused: boolean
  spellings: StorageSpellings
}

export interface FactSources {
  store: Pick<Store, 'listDeletes'>
  clock: Clock
  spellingsOf: SpellingsOf
}

/** A delete under way is looked at again after this long, unless it says when it goes on. */
const LOOK_AGAIN_MS = 1_000

/**
 * Gathers the facts, or parks the run where a delete of ours has to end first. The same in every
 * pass: ended deletes stay as they are.
 */
export async function gatherEventFacts(
  { cause }: Pick<ClaimedRun, 'cause'>,
  { store, clock, spellingsOf }: FactSources,
): Promise<EventFacts | Extract<RunOutcome, { kind: 'parked' }>> {
  const account = accountOf(cause)
  const spellings = await spellingsOf(account)
  if (cause.kind !== 'event' || cause.event.type !== 'file.deleted') return { isSelfCaused: false, spellings }
  const targets = targetsOf(cause.event, spellings)
  const deletes = await store.listDeletes(account, targets)
  const now = clock.now()
  const verdict = decideSelfCaused(cause.event, deletes, now)
  if (verdict !== 'open') return { isSelfCaused: verdict === 'yes', spellings }
  const reason = `its own delete of ${targets[0]} is still under way, and decides whether this event is its work`
  return { kind: 'parked', dueAt: Math.max(nextMoment(deletes), now + LOOK_AGAIN_MS), reason }
}

/**
 * What a delete of the file would have named as its target: an author may hand on the service's own
 * spelling.
 */
function targetsOf({ body }: EventRecord, spellings: StorageSpellings): string[] {
  const deletion = readDeletion(body)
  if (!deletion) return []
  const services = new Set([findStorage(deletion.service, spellings) ?? deletion.service, deletion.service])
  return [...services].map((service) => `${service}:${deletion.id}`)
}

/** A body that is no event is the admission's to tell of. */
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
