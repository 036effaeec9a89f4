import { App } from '../../../src/app/app.ts'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { createNoticeBus } from '../../../src/notices/notice-bus.ts'
import { NO_SERVICE, testConfig } from '../../support/test-config.ts'

/** Program of an app that reads a file per event and prints how each pass ends. */
const [, , dataDir = '', baseUrl = '', apiKey = '', plan = ''] = process.argv

const look = defineWorkflow({
  id: 'look',
  on: 'file.created',
  run: async ({ event, files }) => {
    const { id } = event.data.file as { id: string }
    return (await files.get({ service: 'storage_a', id })).size
  },
})
const notices = createNoticeBus()
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)
notices.subscribe('run.completed', say)
notices.subscribe('run.parked', say)
const service = { ...NO_SERVICE, baseUrl, apiKey, plan: Number(plan) }
const app = await App.create(testConfig(dataDir, { service, slots: 4 }), { workflows: [look], notices })
const { endpoints } = await app.start()
say({ kind: 'ready', endpoint: endpoints.service })
process.stdin.resume().on('end', () => void app.stop())
