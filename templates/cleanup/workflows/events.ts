import { defineEvent, storageName, z } from 'upshot'

// The service does not document the shape of `data`, so this schema says what the workflow relies
// on. Run "upshot events list --json" to see yours; an event that does not fit waits for you.
const end = z
  .object({ service: storageName, path: z.string().startsWith('/'), fileId: z.string().min(1) })
  .transform(({ service, path, fileId }) => ({ service, path, id: fileId }))

export const transferCompleted = defineEvent('transfer.completed', {
  data: z.object({ transfer: z.looseObject({ id: z.string().min(1), source: end, destination: end }) }),
})
