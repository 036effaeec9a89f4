import { UpshotError } from '../../../core/errors.ts'
import type { ShadowBook } from '../../../core/safety/differences/shadow-book.ts'
import { openReadStore } from '../../../store/open-store.ts'
import type { Reader } from '../../../store/shared-store.ts'
import { serveParent } from '../../play/child/serve-parent.ts'
import { openRoom } from '../../play/open-room.ts'
import type { Room } from '../../play/room.ts'
import { followRuns } from './follow-runs.ts'
import type { ShadowStart } from './shadow-process.ts'

/** The shadow's code in a room of its own, with the reads that it plays on. */
interface Opened {
  store: Reader
  /** Id of its workflow. */
  workflow: string
  room: Room
}

/** Null before it is opened. */
let opening: Promise<Opened> | null = null
const over = new AbortController()

serveParent({ open, look }, { gone: () => void leave() })

/** Resolves with the id of the workflow. */
async function open(start: ShadowStart): Promise<string> {
  opening = openParts(start)
  return (await opening).workflow
}

async function openParts({ config, storeOptions, file }: ShadowStart): Promise<Opened> {
  const store = await openReadStore({ ...storeOptions, vaultKey: Buffer.from(storeOptions.vaultKey) })
  const room = await openRoom(store, config, { isAside: true, onPrint: () => {}, signal: over.signal })
  const [found] = room.code.workflows
  if (found !== undefined) return { store, room, workflow: found.id }
  await room[Symbol.asyncDispose]()
  const why = room.code.broken[0]?.error.message ?? 'it defines no workflow'
  throw new UpshotError('invalid_workflow', `${file} cannot be loaded: ${why}`)
}

/** Rejects with `internal` where its room has ended. */
async function look(book: ShadowBook, now: number): Promise<ShadowBook> {
  if (opening === null) throw new Error('The process of a shadow has opened none.')
  const { store, workflow, room } = await opening
  return followRuns(store, book, { workflow, room, signal: over.signal, now })
}

/** The room may hang in its code, so it is killed before its parent is gone. */
async function leave(): Promise<void> {
  over.abort()
  const opened = await opening?.catch(() => null)
  await opened?.room[Symbol.asyncDispose]()
  process.exit(0)
}
