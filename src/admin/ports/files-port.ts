import type { Downloadable, FileDetails, FileEntry, FileHash, FilePlace, FileRef } from '../../core/service/file.ts'
import type { ListQuery, Page, Snapshot, SnapshotOptions } from '../../core/service/files-api.ts'
import type { AnswerOf } from '../contract/routes.ts'
import type { Work } from './work.ts'

interface Asked {
  signal: AbortSignal
}

/** The reads of the Files API that people ask for. */
export interface AccountFiles {
  list(query: ListQuery & { pageToken?: string }, options: Asked): Promise<Page & { nextToken: string | null }>
  get(file: FileRef, options: Asked): Promise<FileDetails>
  find(place: FilePlace, options: Asked): Promise<FileEntry | null>
  snapshot(
    folder: Pick<ListQuery, 'service' | 'path' | 'recursive'>,
    options: SnapshotOptions & Asked,
  ): Promise<Snapshot>
  hash(file: Downloadable, options: Asked): Promise<FileHash | null>
  downloadUrl(file: FileRef, options: Asked): Promise<{ url: { reveal(): string }; expiresAt: number | null }>
}

/** A file in the state in which a person saw it. */
export type SeenFile = Pick<FileEntry, 'service' | 'id' | 'path' | 'size' | 'modifiedAt'>

interface RemovalByHand {
  account: string
  files: readonly SeenFile[]
  actor: string
  reason: string | null
}

export type Removal = Pick<AnswerOf<'POST /files/delete'>['files'][number], 'outcome' | 'error'> & { file: SeenFile }

/**
 * The Files API for people, with the key of an account and under its limit. It throws only
 * `UpshotError`.
 */
export interface FilesPort {
  ask<Answer>(account: string, question: (files: AccountFiles) => Promise<Answer>): Promise<Answer>
  /** The bytes of a file from an offset on, also over broken connections and expired addresses. */
  stream(account: string, file: Downloadable, options: Asked & { from: number }): AsyncIterable<Uint8Array>
  /** Deletes each file that is unchanged, with its rows in the ledger; obeys stops. */
  remove(removal: RemovalByHand, work: Work): Promise<Removal[]>
}
