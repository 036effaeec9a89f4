import { callable, defineWorkflow, storageName, z } from 'upshot'
import { scanner } from '../config/scanner.ts'
import { postJson } from './post-json.ts'

/** Orders a virus scan of a file, and waits for the scanner's callback. */
export default defineWorkflow({
  id: 'scan-file',
  on: callable(z.object({ service: storageName, id: z.string() })),
  async run({ input, files, step, log }) {
    const { path } = await files.get(input)
    const scan = await step.hook('scan', {
      data: z.object({ verdict: z.enum(['clean', 'infected']) }),
      expires: '2h',
    })
    await step.run('order the scan', (attempt) => postJson(scanner.url, { path, callback: scan.url }, attempt), {
      retry: { attempts: 10, min: '5s', max: '5m' },
      timeout: '30s',
    })
    const answer = await step.waitFor('scanned', scan)
    const verdict = answer?.data.verdict ?? 'unknown'
    log.info(`${input.service}:${path} is ${verdict}`)
    return { path, verdict }
  },
})
