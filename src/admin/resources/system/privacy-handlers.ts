import { UpshotError } from '../../../core/errors.ts'
import { createEraser, type Words } from '../../../core/safety/create-eraser.ts'
import { type FoundText, searchTexts } from '../../../core/store/search-texts.ts'
import type { PRIVACY_ROUTES } from '../../contract/resources/system/privacy.ts'
import type { Handlers } from '../../perform/handler.ts'
import type { ResourceParts } from '../parts.ts'

/** Rows that one commit changes at most. */
const KEYS_AT_ONCE = 200
const NEEDED_SHOWN = 5

/** Where text of a person is, and its erasure. */
export function privacyHandlers(parts: ResourceParts): Handlers<keyof typeof PRIVACY_ROUTES> {
  const { store } = parts
  return {
    async 'POST /privacy/find'({ body, record, signal, tell }) {
      const words = readWords(body)
      await record(null, { kind: words.kind })
      return searchTexts(store, words, { signal, onLooked: (done) => tell({ done, total: null }) })
    },
    async 'POST /privacy/erase'({ body, operator, writes, record, now, tell }) {
      const words = readWords(body)
      const before = await searchTexts(store, words, { onLooked: (done) => tell({ done, total: null }) })
      if (body.isDryRun) return { ...before, erased: 0, canceled: [] }
      const canceled: string[] = []
      if (body.cancelRuns) {
        for (const run of before.neededBy.filter((id) => id.startsWith('run_'))) {
          if (await writes.cancelRun(run, 'a person erases what it needs', now)) canceled.push(run)
        }
      }
      const { neededBy } = canceled.length === 0 ? before : await searchTexts(store, words)
      if (neededBy.length > 0) throw describeNeeded(neededBy)
      const { actor, reason } = operator
      await record(null, { kind: words.kind, rows: before.rows })
      let erased = 0
      // A row that a new run needs by now is left. A second call goes on with what is left.
      const onFound = async (table: string, found: readonly FoundText[]) => {
        const keys = found.filter((row) => row.neededBy === null).map(({ key }) => key)
        for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
          const part = keys.slice(from, from + KEYS_AT_ONCE)
          erased += await writes.eraseTexts({ words, table, keys: part, actor, reason, now: parts.clock.now() })
        }
      }
      const onLooked = (done: number) => tell({ done, total: before.searched })
      await searchTexts(store, words, { onFound, onLooked })
      return { ...before, erased, canceled }
    },
  }
}

/** Throws where the reason, which is kept, says what is to go. */
function readWords({ kind, text, reason }: Words & { reason?: string | undefined }): Words {
  const words = { kind, text: text.trim() }
  if (reason === undefined || !createEraser(words).isIn(reason)) return words
  throw new UpshotError('invalid_request', 'The reason has the text that is to be found or erased, and it is kept.', {
    fix: 'Name a ticket or a request instead.',
  })
}

function describeNeeded(neededBy: readonly string[]): UpshotError {
  const shown = neededBy.slice(0, NEEDED_SHOWN).join(', ')
  const more = neededBy.length > NEEDED_SHOWN ? ` and ${neededBy.length - NEEDED_SHOWN} more` : ''
  return new UpshotError('conflict', `Nothing was erased: it is needed by ${shown}${more}, which would break.`, {
    details: {
      fix:
        'Let the runs end, or cancel them with --cancel-runs. Edit or remove a schedule: ' +
        'upshot schedules edit <name>. Abort an operation: upshot operations abort <id>.',
      neededBy: [...neededBy],
    },
  })
}
