import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { ManualClock } from '../../src/core/time.ts'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'
import { openSharedStore } from '../../src/store/open-store.ts'
import { startTestApp } from '../support/test-app.ts'

test('the runs of a delivery are claimed in its commit, and author code runs after its answer', async () => {
  const order: string[] = []
  const notices = createNoticeBus()
  notices.subscribe('delivery.received', () => void order.push('answered'))
  let completed = 0
  let claims = 0
  notices.subscribe('run.completed', () => {
    completed += 1
  })
  const workflow = defineWorkflow({ id: 'w', on: 'file.created', run: () => void order.push('author code') })
  const { sandbox } = await startTestApp({
    workflows: [workflow],
    notices,
    // The clock stands still, so no claim comes from polling.
    clock: new ManualClock(),
    async openStore(options) {
      const store = await openSharedStore(options)
      return {
        ...store,
        async saveDelivery(delivery) {
          order.push('save')
          const receipt = await store.saveDelivery(delivery)
          const [run] = await store.listRuns({ limit: 1 })
          order.push(`committed, run ${run?.status}`)
          return receipt
        },
        claimRuns(...given) {
          if (order.at(-1) === 'save') order.push('claim')
          claims += 1
          return store.claimRuns(...given).finally(() => {
            claims -= 1
          })
        },
      }
    },
  })
  // The three events of the sample transfer come first.
  if (completed < 3) await notices.once('run.completed', () => completed === 3)
  do await turn()
  while (claims > 0)
  order.length = 0
  const ended = notices.once('run.completed')
  await sandbox.storage('storage_c').put('/one.txt', '1')
  await ended
  expect(order).toEqual(['save', 'committed, run running', 'answered', 'author code'])
})
