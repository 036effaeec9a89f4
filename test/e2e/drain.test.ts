import { expect, test } from 'vitest'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { currentSecret } from '../../src/core/incoming/endpoint.ts'
import { postDelivery } from '../support/post-delivery.ts'
import { startTestApp } from '../support/test-app.ts'

test('an app that drains answers new connections 503 until its last step has ended', async () => {
  const arrived = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const slow = defineWorkflow({
    id: 'slow',
    on: 'file.created',
    run: ({ step }) =>
      step.run('work', async () => {
        arrived.resolve()
        await gate.promise
      }),
  })
  const { app, urls, sandbox } = await startTestApp({ workflows: [slow] })
  const [endpoint] = await app.store.listEndpoints()
  const secret = endpoint === undefined ? '' : currentSecret(endpoint)
  await sandbox.storage('storage_a').put('/x.txt', 'x')
  await arrived.promise
  const stopped = app.stop()
  const answer = await postDelivery(urls.endpoints.sandbox ?? '', secret, 'evt_late')
  expect(answer).toEqual({ status: 503, retryAfter: 2 })
  gate.resolve()
  await stopped
  await expect(postDelivery(urls.endpoints.sandbox ?? '', secret, 'evt_later')).rejects.toThrow()
})
