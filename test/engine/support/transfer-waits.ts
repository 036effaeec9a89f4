import { z } from 'zod'
import { defineEvent } from '../../../src/author/define-event.ts'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'

export const moved = defineEvent('transfer.completed', {
  data: z.looseObject({
    transferId: z.union([z.string(), z.number()]),
    bytes: z.string().transform(Number),
    path: z.string(),
  }),
  keys: { transfer: (data) => data.transferId, path: (data) => data.path },
})

export const transfer = (transferId: string | number, path = '/a', bytes = '12') => ({ transferId, path, bytes })

/** Waits for transfer t1, an hour at most. */
export const waiting = (since: 'now' | 'run' = 'now') =>
  defineWorkflow({
    id: 'waiting',
    on: 'file.created',
    run: async ({ step }) => {
      const event = await step.waitFor('moved', { on: moved, where: { transfer: 't1' }, timeout: '1h', since })
      return event && { id: event.id, bytes: event.data.bytes }
    },
  })
