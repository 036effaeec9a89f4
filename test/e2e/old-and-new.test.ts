import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openDataDir } from '../support/open-data-dir.ts'
import { postDelivery } from '../support/post-delivery.ts'
import { DOOR } from '../support/program.ts'
import { makeProject, startIn } from '../support/start-process.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { NO_SERVICE_VARIABLES, WEBHOOK_SECRET } from '../support/test-config.ts'

const makeCode = (...on: string[]) => `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'follow-up', on: ${JSON.stringify(on)}, run: ({ event }) => event.type })`

const OLD = makeCode('file.created')
const NEW = makeCode('file.created', 'file.deleted')

test('an old process that starts last leaves the events that only new code asks for to start runs', async () => {
  const dataDir = join(tempFolder(), 'data')
  const start = async (code: string) => {
    const root = makeProject({ 'follow-up.workflow.ts': code })
    const started = startIn(root, { ...NO_SERVICE_VARIABLES, UPSHOT_DATA_DIR: dataDir })
    const { urls } = await started.line(({ message }) => message === 'started')
    return { ...started, url: (urls as Record<string, string>)['endpoint service'] ?? '' }
  }
  const first = await start(OLD)
  const renewed = await start(NEW)
  first.child.kill('SIGKILL')
  await first.exited
  const again = await start(OLD)
  const store = openDataDir({ dataDir, secretKey: null })
  onTestFinished(() => store.close())
  const post = (url: string, id: string) => postDelivery(url, WEBHOOK_SECRET, id, undefined, 'file.deleted')
  expect(await post(again.url, 'evt_1')).toMatchObject({ status: 200 })
  expect(await post(renewed.url, 'evt_2')).toMatchObject({ status: 200 })
  expect(await store.listRuns({ limit: 9, eventId: 'evt_1' })).toHaveLength(1)
  const statusOf = async (eventId: string) => (await store.listRuns({ limit: 9, eventId }))[0]?.status
  await expect.poll(() => statusOf('evt_2')).toBe('completed')
})
