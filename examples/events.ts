import { defineEvent, storageName, z } from 'upshot'

const end = z.object({ service: storageName, fileId: z.string(), path: z.string() })

/** The part of each event that the examples rely on. Adapt it to what your account sends. */
export const transferCompleted = defineEvent('transfer.completed', {
  data: z.object({ transfer: z.object({ source: end, destination: end }) }),
})
export const transferFailed = defineEvent('transfer.failed', {
  data: z.object({ transfer: z.object({ source: end }) }),
})
export const fileCreated = defineEvent('file.created', {
  data: z.object({ service: storageName, file: z.object({ id: z.string(), path: z.string() }) }),
})
