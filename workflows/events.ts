import { defineEvent, storageName, z } from 'upshot'

// The service does not document the shape of `data`, so these schemas say what the workflows rely
// on. An event that does not fit parks its run for a person.
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

/** A transfer between two storages. An `id` is null where the service knows no file. */
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

/** A file as it was when the service sent the event. */
export type CreatedFile = z.output<typeof createdFile>['file']

export const transferCompleted = defineEvent('transfer.completed', { data: z.object({ transfer }) })
export const transferFailed = defineEvent('transfer.failed', { data: z.object({ transfer }) })
export const fileCreated = defineEvent('file.created', {
  data: createdFile,
  // For `reconcile`: finds lost events, and says how to make one up.
  file: ({ file: { service, id } }) => ({ service, id }),
  fromFile: ({ service, ...file }) => ({
    service,
    file: { ...file, size: file.size ?? 0, modifiedAt: file.modifiedAt ?? new Date(0).toISOString() },
  }),
})
