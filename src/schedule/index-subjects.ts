import type { Store } from '../core/store/store.ts'

/** Events of one commit: a few milliseconds of the thread that writes. */
const EVENTS = 250

/** Indexes the files and ids that new events tell of; returns how many commits it took. */
export async function indexSubjects(
  store: Pick<Store, 'readSubjects' | 'saveSubjects'>,
  mayGoOn: () => boolean = () => true,
): Promise<number> {
  for (let saved = 0; ; saved++) {
    const batch = mayGoOn() ? await store.readSubjects(EVENTS) : null
    if (batch === null) return saved
    await store.saveSubjects(batch)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
