import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useFilters } from '../../state/filters.ts'

export type File = AnswerOf<'GET /files/:storage'>['items'][number]

/** The storages, under our own names. */
export const STORAGES = ['storage_a', 'storage_b', 'storage_c'] as const satisfies readonly File['service'][]

/** A folder, and the file of it that is looked at; the address of the page has them. */
export interface Place {
  account: string
  storage: string
  path: string
  /** Id of the file; empty for none. */
  file: string
}

export function usePlace(): Place {
  const { read } = useFilters()
  return {
    account: read('account') || 'default',
    storage: read('storage') || STORAGES[0],
    path: read('path') || '/',
    file: read('file'),
  }
}

/** The address of a place, without its defaults. */
export function hrefOf({ account, storage, path, file }: Place): string {
  const query = new URLSearchParams()
  if (account !== 'default') query.set('account', account)
  if (storage !== STORAGES[0]) query.set('storage', storage)
  if (path !== '/') query.set('path', path)
  if (file !== '') query.set('file', file)
  const text = query.toString()
  return text === '' ? '/files' : `/files?${text}`
}

/** The folders above a path, from the root down: each with its name. */
export function listFolders(path: string): { name: string; path: string }[] {
  const names = path.split('/').filter((name) => name !== '')
  return names.map((name, index) => ({ name, path: `/${names.slice(0, index + 1).join('/')}` }))
}
