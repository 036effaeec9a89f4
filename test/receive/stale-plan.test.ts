import { expect, test } from 'vitest'
import { UpshotError } from '../../src/core/errors.ts'
import { eventBody } from '../support/fixtures.ts'
import { createTestReceiver } from '../support/test-receiver.ts'

test('a delivery is planned again with the routes that came while it was being saved', async () => {
  let workflow = 'old'
  const receiver = await createTestReceiver({
    routes: async () => [{ eventType: '*', workflow }],
    intake: {
      async saveDelivery(delivery) {
        if (workflow === 'old') {
          workflow = 'new'
          const verify = { id: 'new', file: 'new.workflow.ts', eventTypes: ['*'], schedule: null }
          await receiver.store.saveWorkflows({ workflows: [verify], broken: [] }, 1)
        }
        return receiver.store.saveDelivery(delivery)
      },
    },
  })
  expect((await receiver.post(eventBody('evt_1'))).status).toBe(200)
  expect(await receiver.store.listRuns({ limit: 10 })).toMatchObject([{ workflow: 'new', eventId: 'evt_1' }])
})

test('a delivery whose plans are all stale is left to its sender, who tries again', async () => {
  let plans = 0
  const { post, store } = await createTestReceiver({
    intake: {
      saveDelivery: async () => {
        plans += 1
        throw new UpshotError('stale_plan', 'The set-up changes without end.')
      },
    },
  })
  expect((await post(eventBody('evt_1'))).status).toBe(503)
  expect(plans).toBe(5)
  expect(await store.listEvents({ limit: 1 })).toEqual([])
})
