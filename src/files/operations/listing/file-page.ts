import type { ListQuery, Page } from '../../../core/service/files-api.ts'

/** A page of entries, and the token of the next one. */
export interface FilePage extends Page {
  /** The service's token of the next page; null when it gave none. */
  nextToken: string | null
}

/** A page to list. Default: the first, newest entries first. */
export interface FileQuery extends ListQuery {
  /** The `nextToken` of the page before; it replaces `page`. */
  pageToken?: string
}

/** The entries of a storage below one path. */
export type Collection = Omit<ListQuery, 'page' | 'limit' | 'sort'>
