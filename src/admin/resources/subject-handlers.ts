import type { EffectRecord } from '../../core/safety/effect.ts'
import type { ReadStore } from '../../core/store/store.ts'
import type { SUBJECT_ROUTES } from '../contract/resources/subjects.ts'
import type { Handlers } from '../perform/handler.ts'
import { EVENT_POSITION, readPage } from '../queries/read-page.ts'
import { describeEffect, describeEvent, describeRuns } from '../views/run-view.ts'
import type { ResourceParts } from './parts.ts'

/** Runs of one event that are listed. */
const MAX_RUNS = 20
/** Effects of one file that are listed. */
const MAX_EFFECTS = 200

export function subjectHandlers({ store }: ResourceParts): Handlers<keyof typeof SUBJECT_ROUTES> {
  return {
    async 'GET /subjects/:subject'({ params: { subject }, query, signal, caller }) {
      const page = await readPage(
        { query, signal, position: EVENT_POSITION },
        (slice) => store.searchEvents({ subject }, slice),
        (events) =>
          Promise.all(
            events.map(async (event) => {
              const runs = await store.listRuns({ eventId: event.id, account: event.account, limit: MAX_RUNS })
              return { event: describeEvent(event, caller), runs: await describeRuns(store, runs, caller) }
            }),
          ),
      )
      const effects = query.after === undefined ? await listEffects(store, subject) : []
      return { ...page, effects: effects.map((each) => describeEffect(each, caller)) }
    },
  }
}

/** Effects on a target, and those on a path, in its storage where one is named. */
async function listEffects(store: Pick<ReadStore, 'listEffects'>, subject: string): Promise<EffectRecord[]> {
  const [, service = null, path = ''] = /^(?:(storage_[abc]):)?(\/.*)$/s.exec(subject) ?? []
  if (path === '') return store.listEffects({ target: subject, limit: MAX_EFFECTS })
  const found = await store.listEffects({ path, limit: MAX_EFFECTS })
  return found.filter(({ target }) => service === null || target?.startsWith(`${service}:`))
}
