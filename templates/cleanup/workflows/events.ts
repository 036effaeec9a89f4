import { defineEvent, STORAGES, z } from 'upshot'

// The service documents no shape for `data`, so this says what the workflow relies on. An event
// that is different makes its run wait for you, and nothing is deleted. See what you get with
// "upshot events list --json".
const end = z
  .object({ service: z.enum(STORAGES), path: z.string().startsWith('/'), fileId: z.string().min(1) })
  .transform(({ service, path, fileId }) => ({ service, path, id: fileId }))

export const transferCompleted = defineEvent('transfer.completed', {
  data: z.object({ transfer: z.looseObject({ id: z.string().min(1), source: end, destination: end }) }),
})
