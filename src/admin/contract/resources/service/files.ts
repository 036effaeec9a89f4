import { z } from 'zod'
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

const seen = z
  .strictObject({
    path: z.string(),
    size: z.int().nullable(),
    modifiedAt: z.string().nullable(),
  })
  .describe('The state in which the person saw it; a file in another state is not deleted.')

export const FILE_ROUTES = defineRoutes({
  'GET /files/:storage': {
    id: 'listFiles',
    summary: 'A page of a folder, by name; asked of the Files API under the limit of the account',
    role: 'operator',
    query: {
      account,
      path: z.string().startsWith('/').max(4_096).default('/').describe('A folder, such as `/reports`.'),
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
    body: { account },
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
  'POST /files/:storage/:id/delete': {
    id: 'deleteFile',
    isDestructive: true,
    summary: 'Deletes a file for good if it is unchanged; needs the role admin outside of the sandbox',
    body: {
      account,
      expect: seen,
      count: z.literal(1).optional().describe('Needed where the guard lets no run delete without people.'),
    },
    answer: z.object({
      outcome: z
        .enum(['deleted', 'already_gone', 'not_found', 'changed', 'dry_run', 'failed', 'stopped', 'not_tried'])
        .describe('`changed`: it is not as expected. `stopped`: a stop of effects covers it.'),
      error: z.string().nullable().describe('Why it failed or is stopped.'),
    }),
    audit: 'files.rm',
  },
})
