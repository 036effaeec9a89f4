import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useFilters } from '../../state/filters.ts'
import { STORAGES } from '../../words/format.ts'

export type File = AnswerOf<'GET /files/:storage'>['items'][number]

/** A folder of a storage, and the file of it that is looked at. */
export interface Side {
  storage: string
  path: string
  /** Id of the file; empty for none. */
  file: string
}

/** The folders of the page, as its address names them. */
export interface Place extends Side {
  account: string
  /** The folder beside it; null where there is only one. */
  beside: Side | null
}

/** One of the folders of the page. */
export interface OneSide extends Side {
  account: string
  /** The address of the page with another folder or file on this side. */
  hrefWith: (changes: Partial<Side>) => string
}

export function usePlace(): Place {
  const { read } = useFilters()
  const storage = read('beside')
  return {
    account: read('account') || 'default',
    storage: read('storage') || STORAGES[0],
    path: read('path') || '/',
    file: read('file'),
    beside: storage === '' ? null : { storage, path: read('besidePath') || '/', file: read('besideFile') },
  }
}

/** The address of a place, without its defaults. */
export function hrefOf({ account, storage, path, file, beside }: Place): string {
  const query = new URLSearchParams()
  if (account !== 'default') query.set('account', account)
  if (storage !== STORAGES[0]) query.set('storage', storage)
  if (path !== '/') query.set('path', path)
  if (file !== '') query.set('file', file)
  if (beside !== null) query.set('beside', beside.storage)
  if (beside !== null && beside.path !== '/') query.set('besidePath', beside.path)
  if (beside !== null && beside.file !== '') query.set('besideFile', beside.file)
  const text = query.toString()
  return text === '' ? '/files' : `/files?${text}`
}

/** The folder of a page, or the left one of two. One file at a time is looked at. */
export function firstSide(place: Place): OneSide {
  const { account, storage, path, file } = place
  const beside = place.beside && { ...place.beside, file: '' }
  return { account, storage, path, file, hrefWith: (changes) => hrefOf({ ...place, beside, ...changes }) }
}

/** The right one of two folders. */
export function secondSide(place: Place, beside: Side): OneSide {
  const hrefWith: OneSide['hrefWith'] = (changes) => hrefOf({ ...place, file: '', beside: { ...beside, ...changes } })
  return { account: place.account, ...beside, hrefWith }
}

/** The folders above a path, from the root down: each with its name. */
export function listFolders(path: string): { name: string; path: string }[] {
  const names = path.split('/').filter((name) => name !== '')
  return names.map((name, index) => ({ name, path: `/${names.slice(0, index + 1).join('/')}` }))
}
