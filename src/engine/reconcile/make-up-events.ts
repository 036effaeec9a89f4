import type { FileFunctions } from '../../author/event-keys.ts'
import { withStorageNames } from '../../author/storage-name.ts'
import { describeError } from '../../core/errors.ts'
import { deriveEventId } from '../../core/ids.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import { planRuns, type Route } from '../../core/incoming/route.ts'
import type { Publish } from '../../core/notices.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import type { FileFinding, FindingState } from '../../core/service/sweep/judge-file.ts'
import { FILE_TYPES, type FileType } from '../../core/service/sweep/sweep-plan.ts'
import type { Store } from '../../core/store/store.ts'
import { type Clock, isoTime, Loop } from '../../core/time.ts'
import { type FileMatching, matchFiles, readFile } from './match-files.ts'

/** Events of one look. */
const EVENTS = 100

interface MakingUp {
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
  for (const [type, { make }] of parts.functions()) {
    if (make !== null) await makeUpOfType(parts, { type, make, mayGoOn })
  }
}

async function makeUpOfType(
  { store, clock, publish, ...parts }: MakingUp,
  { type, make, mayGoOn }: { type: string; make: Make; mayGoOn: () => boolean },
): Promise<void> {
  const due = await store.listFindings({ states: ['due'], type, limit: EVENTS })
  const routes = due.length === 0 ? [] : await parts.routes()
  for (const finding of due) {
    if (!mayGoOn()) return
    const now = clock.now()
    const { account, storage, file } = finding
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

type Make = NonNullable<FileFunctions['make']>

function makeEvent(
  { account, storage, file, type, sweep, entry }: FileFinding,
  make: Make,
  { spellings, now }: { spellings: StorageSpellings; now: number },
): { id: string; body: string } | { error: ReturnType<typeof describeError> } {
  const id = deriveEventId('reconcile', account, type, storage, file, sweep)
  try {
    const data = withStorageNames(spellings, () => make(JSON.parse(entry)))
    return { id, body: JSON.stringify({ id, type, created: isoTime(now), data }) }
  } catch (error) {
    return { error: describeError(error) }
  }
}

/** Time for which a made-up event stands in for the real one. */
const STANDS_IN_MS = 30 * 24 * 60 * 60_000
/** States in which an event may yet be made up. */
const WAITING: readonly FindingState[] = ['found', 'held', 'due']

/**
 * The made-up event that told of the file of this one before. Null: none did, and none will, though
 * the events are matched to files only later.
 */
export async function findMadeUp(
  event: EventRecord,
  parts: FileMatching & { store: Pick<Store, 'findFinding' | 'moveFinding'> },
): Promise<string | null> {
  const { id, account, type, body, origin, receivedAt } = event
  if (origin === 'reconcile' || !isFileType(type)) return null
  const found = readFile(parts.functions().get(type), body, await parts.spellingsOf(account))
  if (found === null || found === 'none') return null
  const { findFinding, moveFinding } = parts.store
  const find = () => findFinding({ account, type, ...found })
  let finding = await find()
  if (finding && WAITING.includes(finding.state) && !(await moveFinding(finding, finding.state, 'reported', null)))
    return findMadeUp(event, parts)
  if (finding?.state === 'made' && finding.lateEvent === null) {
    // The first of several is the late one. The book tells which, once it has read them.
    await matchFiles(parts)
    finding = await find()
  }
  if (finding?.state !== 'made' || finding.foundAt < receivedAt - STANDS_IN_MS) return null
  // Once the late one is known, an event tells of something else: of a file that was made again.
  return (finding.lateEvent ?? id) === id ? finding.event : null
}

function isFileType(type: string): type is FileType {
  return type === FILE_TYPES.created || type === FILE_TYPES.deleted
}

/** How often it looks for events to match and to make up. */
const PERIOD_MS = 5_000

type Parts = FileMatching & MakingUp

/** Matches events to files, and makes up lost ones, while storages are compared with events. */
export class FileWatch extends Loop {
  readonly #parts: Parts

  constructor(parts: Parts) {
    super(parts.clock, { everyMs: PERIOD_MS })
    this.#parts = parts
  }

  protected async round(): Promise<undefined> {
    const mayGoOn = () => !this.signal.aborted
    await matchFiles(this.#parts, mayGoOn)
    if (mayGoOn()) await makeUpEvents(this.#parts, mayGoOn)
  }

  protected override failed(error: unknown): void {
    this.#parts.publish({ kind: 'fault', where: 'comparing files with events', error: describeError(error) })
  }
}
