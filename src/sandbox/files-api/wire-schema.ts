import { z } from 'zod'
import { STORAGES } from '../../core/service/storage.ts'

/** ISO 8601 in UTC with milliseconds. */
const moment = z.iso.datetime()
const count = z.number().int().min(0)

/** Section 2.1, an entry in a list. Folders have neither `mimeType` nor `size`. */
const entrySchema = z.object({
  id: z.string().min(1),
  name: z.string().min(1),
  type: z.enum(['file', 'folder']),
  mimeType: z.string().optional(),
  size: count.optional(),
  path: z.string().startsWith('/'),
  createdAt: moment,
  modifiedAt: moment,
})

/** Section 2.1, an entry with its details. */
export const detailsSchema = entrySchema.extend({
  webViewLink: z.url(),
  thumbnailUrl: z.url(),
  owner: z.email(),
  shared: z.boolean(),
})

/** Section 2.2. */
export const downloadUrlSchema = z.object({ downloadUrl: z.url(), expiresAt: moment })

/** Section 2.3. */
export const deletedSchema = z.object({ message: z.string().min(1) })

/** Section 2.4. */
const paginationSchema = z.object({
  page: z.number().int().min(1),
  limit: z.number().int().min(1).max(100),
  totalItems: count,
  totalPages: count,
})

/** The same shape with names such as `created_at`, as the alternative form has them. */
function inSnakeCase(schema: z.ZodObject): z.ZodObject {
  const renamed = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return z.object(Object.fromEntries(Object.entries(schema.shape).map(([name, field]) => [renamed(name), field])))
}

/** Folders have a `mime_type` and a size of 0, too. */
const ALWAYS = { mimeType: z.string(), size: count }
const alternativeEntrySchema = inSnakeCase(entrySchema.extend(ALWAYS))
export const alternativeDetailsSchema = inSnakeCase(detailsSchema.extend(ALWAYS))
export const alternativeDownloadUrlSchema = inSnakeCase(downloadUrlSchema)

/** Section 2.5: a success around `data`. */
export function succeeds<Data extends z.ZodType>(data: Data) {
  return z.object({ success: z.literal(true), data })
}

/** Section 4.3: a success in the alternative form. */
export function alternativelySucceeds<Data extends z.ZodType>(data: Data) {
  return z.object({ status: z.literal('success'), data })
}

export const listSchema = succeeds(z.array(entrySchema)).extend({ pagination: paginationSchema.optional() })
export const alternativeListSchema = alternativelySucceeds(
  z.object({ files: z.array(alternativeEntrySchema), next_page_token: z.string().nullable() }),
)

/** Section 7.1, with the codes of section 7.2. */
export const errorSchema = z.object({
  success: z.literal(false),
  error: z.object({ code: z.string().min(1), message: z.string().min(1), details: z.record(z.string(), z.unknown()) }),
})

/** Section 7.2. */
export const alternativeErrorSchema = z.object({
  status: z.literal('error'),
  error: z.object({
    code: z.enum([
      'authentication_error',
      'permission_denied',
      'invalid_parameter',
      'resource_not_found',
      'rate_limit_exceeded',
      'service_error',
    ]),
    message: z.string().min(1),
    details: z.string(),
  }),
})

const transferEnd = z.object({
  service: z.enum(STORAGES),
  path: z.string().startsWith('/'),
  fileId: z.string().nullable(),
})

export const transferSchema = z.object({
  id: z.string().startsWith('trf_'),
  type: z.enum(['file', 'folder']),
  source: transferEnd,
  destination: transferEnd,
  status: z.enum(['queued', 'running', 'completed', 'failed', 'canceled']),
  filesTotal: count,
  filesDone: count,
  filesKept: count,
  bytesTotal: count,
  bytesDone: count,
  startedAt: moment.nullable(),
  finishedAt: moment.nullable(),
  error: z.object({ code: z.string(), message: z.string(), path: z.string().optional() }).optional(),
})

const fileEvent = z.object({ service: z.enum(STORAGES), file: entrySchema })

/** Section 2.6, with the events of section 6. */
export const eventSchema = z.object({ id: z.string().startsWith('evt_'), created: moment }).and(
  z.discriminatedUnion('type', [
    z.object({ type: z.enum(['file.created', 'file.deleted']), data: fileEvent }),
    z.object({
      type: z.enum(['transfer.completed', 'transfer.failed']),
      data: z.object({ transfer: transferSchema }),
    }),
  ]),
)
