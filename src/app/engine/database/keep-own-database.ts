import { statSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { fileURLToPath } from 'node:url'
import { UpshotError } from '../../../core/errors.ts'
import { currentPass } from '../../../engine/pass/scope.ts'
import type { StoreOptions } from '../../../store/open-store.ts'

type Path = ConstructorParameters<typeof import('node:sqlite').DatabaseSync>[0]

/**
 * Refuses the app's database to the SQLite of Node, which author code may call. A process loses all
 * its locks on a file when either library closes it. Then both may write at once.
 */
export function keepOwnDatabase(store: StoreOptions): void {
  if (!('file' in store)) return
  const { file } = store
  const sqlite = process.getBuiltinModule('node:sqlite')
  const Real = sqlite.DatabaseSync
  class CheckedDatabase extends Real {
    constructor(...given: ConstructorParameters<typeof Real>) {
      if (isSame(given[0], file)) throw describeRefusal(file)
      super(...given)
    }
  }
  Object.defineProperty(sqlite, 'DatabaseSync', { value: CheckedDatabase, configurable: true, writable: true })
  syncBuiltinESMExports()
}

function isSame(path: Path, file: string): boolean {
  try {
    const text = path instanceof URL ? path.href : path.toString()
    const plain = text.startsWith('file:') ? fileURLToPath(new URL(text.replace(/[?#].*/s, ''))) : text
    const [found, own] = [statSync(plain), statSync(file)]
    return found.dev === own.dev && found.ino === own.ino
  } catch {
    // No such file: SQLite makes a new one, or says what is wrong.
    return false
  }
}

function describeRefusal(file: string): UpshotError {
  const workflow = currentPass()?.run.workflow
  const who = workflow === undefined ? 'Code outside of runs' : `The workflow "${workflow}"`
  const fix =
    'Ask the admin API, with the client of "upshot/client", or run "upshot … --json" or "sqlite3 -readonly" ' +
    'as a child process.'
  const message = `${who} opens ${file}, the database of this app. In its process that breaks the locks of both. ${fix}`
  return new UpshotError('forbidden', message, { details: { fix } })
}
