import type { ReadStore } from '../../core/store/store.ts'
import type { GroupCommit } from './database/group-commit.ts'
import { translateFault } from './database/storage-fault.ts'

/**
 * The same reads, whose faults of the database in `file` reject with `store_unavailable`. With the
 * `commit` of their connection, each waits for the one at work.
 */
export function translateReads(reads: ReadStore, file: string, commit?: GroupCommit): ReadStore {
  const translate = (error: unknown) => Promise.reject(translateFault(error, file))
  const wrapped = Object.entries(reads).map(([name, read]: [string, (...args: never[]) => unknown]) => {
    if (name === 'watch') return [name, read]
    const translated = (...args: never[]) => {
      const result = commit?.work ? commit.work.then(() => read(...args)) : read(...args)
      return result instanceof Promise ? result.catch(translate) : result
    }
    return [name, translated]
  })
  return Object.fromEntries(wrapped)
}
