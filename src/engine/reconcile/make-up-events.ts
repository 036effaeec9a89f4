import type { FileFunctions } from '../../author/event-keys.ts'
import { withStorageNames } from '../../author/storage-name.ts'
import { describeError } from '../../core/errors.ts'
import { deriveId } from '../../core/ids.ts'
import { planRuns, type Route } from '../../core/incoming/route.ts'
import type { Publish } from '../../core/notices.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import type { FileFinding } from '../../core/service/sweep/file-finding.ts'
import type { Store } from '../../core/store/store.ts'
import { type Clock, isoTime } from '../../core/time.ts'

/** Events of one look. */
const EVENTS = 100

export interface MakingUp {
  store: Pick<Store, 'listFindings' | 'makeUpEvent' | 'moveFinding'>
  clock: Clock
  publish: Publish
  functions: () => ReadonlyMap<string, FileFunctions>
  routes: () => Promise<readonly Route[]> | readonly Route[]
  spellingsOf: (account: string) => StorageSpellings | Promise<StorageSpellings>
}

/**
 * Makes up the events of findings that are due. The id follows from the finding, so that two
 * processes make one. Each of them is an alarm.
 */
export async function makeUpEvents(parts: MakingUp, mayGoOn: () => boolean = () => true): Promise<void> {
  const { store, clock, publish } = parts
  const due = await store.listFindings({ states: ['due'], limit: EVENTS })
  const routes = due.length === 0 ? [] : await parts.routes()
  for (const finding of due) {
    const make = parts.functions().get(finding.type)?.make ?? null
    if (!mayGoOn()) return
    if (make === null) continue
    const now = clock.now()
    const { account, storage, file, type } = finding
    const made = makeEvent(finding, make, { spellings: await parts.spellingsOf(account), now })
    if ('error' in made) {
      const reason = `fromFile failed: ${made.error.message}`
      if (await store.moveFinding(finding, 'due', 'missing', reason))
        publish({ kind: 'fault', where: `making up ${type} of ${storage}:${file}`, error: made.error })
      continue
    }
    const { id, body } = made
    const sent = { id, type, account, createdAt: now, body, workflows: planRuns(type, routes) }
    if (await store.makeUpEvent(finding, sent))
      publish({ kind: 'event.made_up', event: id, account, type, storage, file, path: finding.path })
  }
}

function makeEvent(
  { account, storage, file, type, sweep, entry }: FileFinding,
  make: NonNullable<FileFunctions['make']>,
  { spellings, now }: { spellings: StorageSpellings; now: number },
): { id: string; body: string } | { error: ReturnType<typeof describeError> } {
  const id = deriveId('evt', 'reconcile', account, type, storage, file, sweep)
  try {
    const data = withStorageNames(spellings, () => make(JSON.parse(entry)))
    return { id, body: JSON.stringify({ id, type, created: isoTime(now), data }) }
  } catch (error) {
    return { error: describeError(error) }
  }
}
