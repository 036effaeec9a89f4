import { z } from 'zod'
import { STANDINGS } from '../../../../core/service/compare-folders.ts'
import { STORAGES } from '../../../../core/service/storage.ts'
import { defineRoutes, time } from '../../route.ts'

const account = z.string().default('default').describe('The account whose key is used.')

const file = z
  .object({
    service: z.enum(STORAGES),
    id: z.string(),
    name: z.string(),
    type: z.enum(['file', 'folder']),
    mimeType: z.string().nullable(),
    size: z.int().nullable().describe('Bytes; null for a folder.'),
    path: z.string(),
    createdAt: z.string().nullable().describe('As the service says it.'),
    modifiedAt: z.string().nullable().describe('As the service says it.'),
  })
  .meta({ id: 'File' })

const details = file
  .extend({
    owner: z.string().nullable(),
    shared: z.boolean().nullable().describe('True when others have access.'),
  })
  .meta({ id: 'FileDetails' })

const path = z.string().startsWith('/').max(4_096).default('/').describe('A folder, such as `/reports`.')

const INCOMPLETE = ['max', 'unverified', 'changed', 'totals', 'repeated'] as const

const reason = z.enum(INCOMPLETE).nullable().describe('Why entries may be missing; null: these are proven to be all.')

const seen = z.strictObject({
  service: z.enum(STORAGES),
  id: z.string(),
  path: z.string(),
  size: z.int().nullable(),
  modifiedAt: z.string().nullable(),
})

/** Files of one delete; more take several. */
const MAX_REMOVED = 100_000

const place = z.strictObject({ storage: z.string(), path })

const entry = z.object({
  id: z.string(),
  type: z.enum(['file', 'folder']),
  size: z.int().nullable(),
  path: z.string(),
  modifiedAt: z.string().nullable(),
})

const side = z.object({ service: z.enum(STORAGES), path: z.string(), entries: z.int(), complete: z.boolean(), reason })

export const FILE_ROUTES = defineRoutes({
  'GET /files/:storage': {
    id: 'listFiles',
    summary: 'A page of a folder, by name; asked of the Files API under the limit of the account',
    role: 'operator',
    query: {
      account,
      path,
      limit: z.coerce.number().int().min(1).max(100).default(100).describe('The most entries of one answer.'),
      after: z.string().max(2_000).optional().describe('The `next` of the page before.'),
    },
    answer: z.object({
      items: z.array(file),
      next: z.string().nullable().describe('Value of `after` for the next page; null on the last one.'),
      total: z.int().nullable().describe('Entries on all pages; null where the service did not say.'),
    }),
    isSearch: true,
  },
  'GET /files/:storage/snapshot': {
    id: 'listFolder',
    summary: 'All entries of a folder, oldest first, read page by page before the answer; `listFiles` gives pages',
    role: 'operator',
    query: {
      account,
      path,
      recursive: z.enum(['true']).optional().describe('Also the entries of its subfolders.'),
      limit: z.coerce.number().int().min(1).max(50_000).default(1_000).describe('The most entries.'),
      verify: z.enum(['true']).optional().describe('Reads several pages twice, to prove that none is missing.'),
    },
    answer: z.object({ items: z.array(file), reason }),
    isSearch: true,
  },
  'GET /files/:storage/find': {
    id: 'findFile',
    summary: 'The file or folder at a path',
    role: 'operator',
    query: { account, path: z.string().startsWith('/').max(4_096).describe('Such as `/reports/june.pdf`.') },
    answer: file,
    isSearch: true,
  },
  'GET /files/:storage/:id': {
    id: 'getFile',
    summary: 'A file as the service has it now',
    role: 'operator',
    query: { account },
    answer: details,
    isSearch: true,
  },
  'POST /files/:storage/:id/ticket': {
    id: 'ticketFile',
    noTool: 'bytes',
    summary: 'A ticket for one download within 60 s; the bytes pass through the admin server',
    body: {
      account,
      from: z.int().min(0).default(0).describe('The first byte of the download: it goes on with an earlier one.'),
    },
    answer: z.object({
      ticket: z.string().describe('It needs no login, so give it to nobody.'),
      expiresAt: time(),
    }),
    audit: 'file.download',
  },
  'GET /downloads/:ticket': {
    id: 'downloadFile',
    noTool: 'bytes',
    summary: 'The bytes of the file that a ticket names, as an attachment; the ticket is used up',
    role: 'anyone',
    answer: z.unknown(),
    form: 'bytes',
  },
  'POST /files/:storage/:id/url': {
    id: 'openFileUrl',
    noTool: 'secret',
    summary: 'A temporary address of the service for the bytes of a file; it needs no key',
    body: { account },
    answer: z.object({ url: z.string(), expiresAt: time().nullable() }),
    audit: 'file.url',
  },
  'POST /files/diff': {
    id: 'compareFolders',
    isSafe: true,
    summary: 'Compares two folders by the paths below them',
    body: {
      account,
      one: place.describe('A folder.'),
      other: place.describe('The folder to compare it with.'),
      content: z.boolean().default(false).describe('Reads files of one size, and compares their SHA-256.'),
      all: z.boolean().default(false).describe('Also answers what is the same.'),
      limit: z.int().min(1).max(1_000_000).default(50_000).describe('The most entries of each folder.'),
    },
    answer: z.object({
      one: side,
      other: side,
      counts: z.record(z.enum(STANDINGS), z.int()),
      items: z.array(
        z.object({
          path: z.string().describe('Below both folders.'),
          standing: z.enum(STANDINGS).describe('`unknown`: a listing may lack the entry, or its bytes prove nothing.'),
          by: z.enum(['type', 'size', 'content']).nullable(),
          one: entry.nullable(),
          other: entry.nullable(),
        }),
      ),
    }),
    audit: 'files.diff',
    isSearch: true,
    tellsProgress: true,
  },
  'POST /files/delete': {
    id: 'deleteFiles',
    isDestructive: true,
    summary: 'Deletes files for good, each if it is unchanged; needs the role admin outside of the sandbox',
    body: {
      account,
      files: z.array(seen).max(MAX_REMOVED).describe('As the person saw them: a file in another state is not deleted.'),
      count: z.int().optional().describe('Their number; needed where they are more than a run may delete.'),
    },
    answer: z.object({
      counts: z.record(z.string(), z.int()).describe('Files by outcome.'),
      files: z.array(
        z.object({
          ...seen.omit({ modifiedAt: true }).shape,
          outcome: z
            .enum(['deleted', 'already_gone', 'not_found', 'changed', 'dry_run', 'failed', 'stopped', 'not_tried'])
            .describe('`changed`: it is not as seen. `stopped`: a stop of effects covers it.'),
          error: z.string().nullable().describe('Why it failed or is stopped.'),
        }),
      ),
    }),
    audit: 'files.rm',
    bodyMegabytes: 32,
    tellsProgress: true,
  },
})
