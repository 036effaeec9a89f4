import { defineEvent, storageName, z } from 'upshot'

// The service documents no shape for `data`, so this says once what the workflows rely on. An event
// that is different parks its run, where a person sees it.
const moment = z.iso.datetime({ offset: true })
const bytes = z.int().nonnegative()

const transferEnd = z
  .object({ service: storageName, path: z.string().startsWith('/'), fileId: z.string().min(1).nullish() })
  .transform(({ service, path, fileId }) => ({ service, path, id: fileId ?? null }))

const transfer = z.looseObject({
  id: z.string().min(1),
  source: transferEnd,
  destination: transferEnd,
  bytesTotal: bytes,
  startedAt: moment.nullable(),
  finishedAt: moment.nullable(),
  error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
})

/**
 * A copy from one storage to another. The `id` of an end is null where the service knows no file
 * there.
 */
export type Transfer = z.output<typeof transfer>

const createdFile = z
  .object({
    service: storageName,
    file: z.looseObject({
      id: z.string().min(1),
      name: z.string().min(1),
      path: z.string().startsWith('/'),
      size: bytes,
      modifiedAt: moment,
    }),
  })
  .transform(({ service, file }) => ({ file: { ...file, service } }))

/** A file as it was when the service told of it. */
export type CreatedFile = z.output<typeof createdFile>['file']

export const transferCompleted = defineEvent('transfer.completed', { data: z.object({ transfer }) })
export const transferFailed = defineEvent('transfer.failed', { data: z.object({ transfer }) })
export const fileCreated = defineEvent('file.created', { data: createdFile })
