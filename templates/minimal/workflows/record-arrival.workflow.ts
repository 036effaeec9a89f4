import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defineEvent, defineWorkflow, storageName, z } from 'upshot'
import { arrivals } from '../config/arrivals.ts'

// The service does not document the shape of `data`, so this schema says what the workflow relies
// on. The run of an event that does not fit waits for you.
export const fileCreated = defineEvent('file.created', {
  data: z.object({
    service: storageName,
    file: z.looseObject({ id: z.string().min(1), path: z.string().startsWith('/') }),
  }),
})

/** Writes a record of each new file. */
export default defineWorkflow({
  id: 'record-arrival',
  on: fileCreated,
  async run({ event, files, step, log }) {
    const { service, file } = event.data
    // A call of the Files API is a step: after a crash, its saved result is used again.
    const found = await files.get({ service, id: file.id })
    log.info(`${service}:${found.path} has ${found.size} bytes`)
    // A crash may repeat a step, so it writes the same file again instead of appending a line.
    const record = await step.run('write record', async () => {
      const path = join(arrivals.folder, `${encodeURIComponent(event.id)}.json`)
      await mkdir(arrivals.folder, { recursive: true })
      await writeFile(path, `${JSON.stringify(found, null, 2)}\n`)
      return path
    })
    return { path: found.path, size: found.size, record }
  },
})
