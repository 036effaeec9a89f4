import { posix } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../admin/client/index.ts'
import { UpshotError } from '../../../core/errors.ts'
import type { IncompleteReason } from '../../../core/service/files-api.ts'
import { STORAGES } from '../../../core/service/storage.ts'
import { call, type Operations } from '../../open/operations.ts'

export type Entry = AnswerOf<'GET /files/:storage/find'>

/** A folder of a storage, such as `storage_a:/reports`. */
interface Place {
  /** By our name or the service's. */
  storage: string
  path: string
}

/** Which account, and for how long. */
export interface Asked {
  account: string
  signal: AbortSignal
}

export function addAccount(command: Command) {
  return command.option('--account <name>', 'the account whose key is used', 'default')
}

/** Reads `<service:/path>`. Default path `/`. */
export function parsePlace(text: string): Place {
  const [, storage = '', path = ''] = /^([^:]*):?(.*)$/s.exec(text) ?? []
  if (storage !== '') return { storage, path: path === '' ? '/' : path }
  throw new UpshotError('invalid_request', `"${text}" names no storage.`, {
    fix: `Write <service:/path> with one of ${STORAGES.join(', ')}, such as ${STORAGES[0]}:/reports.`,
  })
}

/** The entry that `<service:id>` or `<service:/path>` names, as it is now. A path has a slash. */
export async function findEntry(operations: Operations, text: string, { account, signal }: Asked): Promise<Entry> {
  const { storage, path } = parsePlace(text)
  if (path === '/') {
    throw new UpshotError('invalid_request', `"${text}" names a whole storage, not an entry.`, {
      fix: 'Write <service:/path> or <service:id>, such as storage_a:/reports/june.pdf.',
    })
  }
  if (!path.startsWith('/')) {
    const {
      owner: _,
      shared: __,
      ...entry
    } = await call(
      operations,
      'GET /files/:storage/:id',
      { params: { storage, id: path }, query: { account } },
      { signal },
    )
    return entry
  }
  const query = { account, path: posix.normalize(path).replace(/\/$/, '') }
  return call(operations, 'GET /files/:storage/find', { params: { storage }, query }, { signal })
}

const WHY = {
  max: 'there are more entries than one listing may hold',
  unverified: 'its pages were read only once',
  changed: 'entries came or went while it was read',
  totals: 'the service counts other entries than it lists',
  repeated: 'the service sent the same page twice',
} as const satisfies Record<IncompleteReason, string>

/** A sentence for people about a listing that may lack entries. */
export function describeIncomplete(reason: IncompleteReason): string {
  return `The listing may lack entries: ${WHY[reason]}.`
}
