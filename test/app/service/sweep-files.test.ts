import { expect } from 'vitest'
import { sweepFiles } from '../../../src/app/service/sweep-files.ts'
import { systemClock } from '../../../src/core/time.ts'
import { silence, test } from '../../files/support/scripted-server.ts'
import { errorOf } from '../../files/support/test-client.ts'
import { NO_SERVICE, testConfig } from '../../support/test-config.ts'
import { openTestStore } from '../../support/test-store.ts'

test('the signal of a sweep ends a request that gets no answer', async ({ server }) => {
  server.otherwise(silence)
  const store = openTestStore()
  const service = { ...NO_SERVICE, baseUrl: server.baseUrl, plan: 'enterprise' } as const
  const open = sweepFiles(testConfig(store.folder, { service }), {
    store,
    clock: systemClock,
    publish: () => {},
    embedded: () => null,
  })
  const stopping = new AbortController()
  const files = await open('default', stopping.signal)
  const error = errorOf(files.list({ service: 'storage_a' }))
  await server.received(1)
  stopping.abort()
  expect(await error).toMatchObject({ name: 'AbortedError' })
})
