import { defineWorkflow, type FileEntry, StepError } from 'upshot'
import { alerts } from '../config/alerts.ts'
import { paths } from '../config/paths.ts'
import { type Transfer, transferFailed } from './events.ts'
import { postJson } from './post-json.ts'
import { writeJson } from './write-whole.ts'

/** Writes an alert about a failed transfer to disk, and posts it to `ALERT_URL`. */
export default defineWorkflow({
  id: 'alert-failed-transfer',
  on: transferFailed,
  retry: { attempts: 3, max: '30s' },
  async run({ event, files, step }) {
    const { transfer } = event.data
    const source = await files.find(transfer.source).catch(describeFailure)
    const destination = await files.find(transfer.destination).catch(describeFailure)
    const alert = {
      text: `Transfer ${transfer.id} failed: ${transfer.error?.message ?? 'the service gave no reason'}`,
      event: event.id,
      transfer,
      source: describeSource(source),
      destination: describeDestination(destination, transfer),
    }

    const record = await step.run('write alert', () => writeJson(paths.alerts, transfer.id, alert))
    const { url } = alerts
    if (url === null) return { record, posted: false }
    await step.run('post alert', (attempt) => postJson(url, alert, attempt), {
      retry: { attempts: 10, min: '5s', max: '15m' },
      timeout: '30s',
    })
    return { record, posted: true }
  },
})

/** The alert goes out even if a storage does not answer: that may be why the transfer failed. */
function describeFailure(error: unknown): string {
  if (error instanceof StepError) return `unknown: ${error.failure.message}`
  throw error
}

function describeSource(found: FileEntry | string | null): string {
  if (typeof found === 'string') return found
  return found ? 'still there' : 'gone'
}

function describeDestination(found: FileEntry | string | null, { startedAt }: Transfer): string {
  if (typeof found === 'string') return found
  if (!found) return 'nothing there'
  const isOlder = Date.parse(found.modifiedAt ?? '') < Date.parse(startedAt ?? '')
  return isOlder ? 'an older file is there' : `${found.size} bytes are there`
}
