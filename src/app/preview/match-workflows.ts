import type { EventRecord } from '../../core/incoming/event.ts'
import { type EventMatches, MATCH_FATES, type WorkflowMatch } from '../../core/incoming/event-match.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { isoTime } from '../../core/time.ts'
import { openIsolated } from './isolated-process.ts'

type MatchStore = Parameters<typeof openIsolated>[0] & Pick<ReadStore, 'listWorkflows'>

/**
 * Asks the project's code about an event, in a process of its own. Nothing is started or stored.
 */
export async function matchWorkflows(
  store: MatchStore,
  config: Parameters<typeof openIsolated>[1],
  { event, now }: { event: EventRecord; now: number },
): Promise<EventMatches> {
  await using isolated = await openIsolated(store, config, {})
  const found = await isolated.match(event, now)
  const pauses = new Map((await store.listWorkflows()).map(({ id, pausedAt }) => [id, pausedAt]))
  const workflows = found.map((match) => holdBack(match, pauses.get(match.workflow) ?? null))
  return {
    workflows: workflows.toSorted((one, other) => MATCH_FATES.indexOf(one.fate) - MATCH_FATES.indexOf(other.fate)),
    broken: isolated.code.broken,
  }
}

function holdBack(match: WorkflowMatch, pausedAt: number | null): WorkflowMatch {
  if (pausedAt === null || match.fate !== 'starts') return match
  const pause = { name: 'pause', fits: false, says: `paused since ${isoTime(pausedAt)}` } as const
  return { ...match, fate: 'waits', clauses: [...match.clauses, pause] }
}
