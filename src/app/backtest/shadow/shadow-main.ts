import { describeError } from '../../../core/errors.ts'
import type { ShadowBook } from '../../../core/safety/differences/shadow-book.ts'
import { openReadStore } from '../../../store/open-store.ts'
import type { Reader } from '../../../store/shared-store.ts'
import { serveParent } from '../../play/child/serve-parent.ts'
import { followRuns } from './follow-runs.ts'
import { type OpenShadow, openShadow } from './open-shadow.ts'
import type { LookEnd, ShadowStart } from './shadow-process.ts'

/** The shadow with the reads that it plays on; null before it is opened. */
let opening: Promise<{ store: Reader; shadow: OpenShadow }> | null = null
const over = new AbortController()

serveParent({ open, look }, { gone: () => void leave() })

/** Resolves with the id of the workflow. */
async function open(start: ShadowStart): Promise<string> {
  opening = openParts(start)
  return (await opening).shadow.workflow
}

async function openParts({ config, storeOptions, file }: ShadowStart) {
  const store = await openReadStore({ ...storeOptions, vaultKey: Buffer.from(storeOptions.vaultKey) })
  return { store, shadow: await openShadow(store, config, { file, signal: over.signal }) }
}

async function look(book: ShadowBook, now: number): Promise<LookEnd> {
  if (opening === null) throw new Error('The process of a shadow has opened none.')
  const { store, shadow } = await opening
  const { workflow, room } = shadow
  try {
    return { kind: 'followed', book: await followRuns(store, book, { workflow, room, signal: over.signal, now }) }
  } catch (error) {
    if (!room.hasEnded) throw error
    return { kind: 'lost', error: describeError(error) }
  }
}

/** The room may hang in its code, so it is killed before its parent is gone. */
async function leave(): Promise<void> {
  over.abort()
  const opened = await opening?.catch(() => null)
  await opened?.shadow.room[Symbol.asyncDispose]()
  process.exit(0)
}
