import { useList } from '../../api/use-api.ts'
import type { OneSide } from './place.ts'

/** The pages of a folder, as far as they were asked for. */
export type FolderQuery = ReturnType<typeof useList<'GET /files/:storage'>>

/** A folder is asked for again by a person only: each page costs a call of the plan. */
export function useFolder(side: OneSide): FolderQuery {
  return useList('GET /files/:storage', askOf(side), { isStill: true })
}

export function askOf({ account, storage, path }: OneSide) {
  return { params: { storage }, query: { account, path } }
}
