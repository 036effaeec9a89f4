import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defineEvent, defineWorkflow, STORAGES, z } from 'upshot'
import { arrivals } from '../config/arrivals.ts'

// The service documents no shape for `data`, so this says what the workflow relies on. An event
// that is different makes its run wait for you instead of doing the wrong thing.
export const fileCreated = defineEvent('file.created', {
  data: z.object({
    service: z.enum(STORAGES),
    file: z.looseObject({ id: z.string().min(1), path: z.string().startsWith('/') }),
  }),
})

/** Looks at each new file and writes down what it found. */
export default defineWorkflow({
  id: 'record-arrival',
  on: fileCreated,
  async run({ event, files, step, log }) {
    const { service, file } = event.data
    // A call of the Files API is a step: after a crash its result is known, and it is not called
    // again.
    const found = await files.get({ service, id: file.id })
    log.info(`${service}:${found.path} has ${found.size} bytes`)
    // A step may be repeated after a crash, so it writes the same file again instead of adding a
    // line.
    const record = await step.run('write record', async () => {
      const path = join(arrivals.folder, `${encodeURIComponent(event.id)}.json`)
      await mkdir(arrivals.folder, { recursive: true })
      await writeFile(path, `${JSON.stringify(found, null, 2)}\n`)
      return path
    })
    return { path: found.path, size: found.size, record }
  },
})
