import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readRuntimeFile } from '../../src/project/data-dir/runtime-file.ts'
import { CHILD_ENVIRONMENT } from '../support/child-environment.ts'
import { openDataDir } from '../support/open-data-dir.ts'
import { postDelivery } from '../support/post-delivery.ts'
import { APP, DOOR } from '../support/program.ts'
import { makeProject } from '../support/start-process.ts'
import { NO_SERVICE_VARIABLES, WEBHOOK_SECRET } from '../support/test-config.ts'

const ENVIRONMENT = {
  UPSHOT_PORT: '0',
  UPSHOT_ADMIN_PORT: '0',
  UPSHOT_LOG_LEVEL: 'debug',
  ...NO_SERVICE_VARIABLES,
}
/** Each delivery logs two lines or more: several times what a pipe holds. */
const DELIVERIES = 1_000

test('a reader of the log that stalls delays neither deliveries nor the stop', async () => {
  const root = makeProject({
    'follow-up.workflow.ts': `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'follow-up', on: 'file.*', run: () => null })`,
  })
  const child = spawn(process.execPath, [APP], {
    cwd: root,
    env: { ...CHILD_ENVIRONMENT, ...ENVIRONMENT },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  // The first bytes are read to know that it has started; after them nobody reads any more.
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    if (String(chunk).includes('"started"')) break
  }
  child.stdout.pause()
  const dataDir = join(root, 'data')
  const store = openDataDir({ dataDir, secretKey: null })
  const [endpoint] = await store.listEndpoints()
  await store.close()
  const url = `${readRuntimeFile(dataDir)?.receiver}/hooks/${endpoint?.path}`
  for (let n = 0; n < DELIVERIES; n += 20) {
    const batch = Array.from({ length: 20 }, (_, each) => postDelivery(url, WEBHOOK_SECRET, `evt_${n + each}`))
    expect((await Promise.all(batch)).every(({ status }) => status === 200)).toBe(true)
  }
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
}, 60_000)
