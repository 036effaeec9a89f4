import { expect } from 'vitest'
import { RUN_LOG_LINES } from '../../src/store/tables/runs/annotation-table.ts'
import { NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'

describeStores((test) => {
  test('log lines are kept with their run, in order, and only the newest ones', async ({ store }) => {
    const runId = await queueRun(store)
    const line = (message: string, facts: string | null = null) =>
      ({ runId, at: NOW, level: 'info', message, facts }) as const
    await store.saveRunLog([line('first', '{"a":1}'), { ...line('second'), level: 'warn' }])
    expect(await store.listRunLog(runId)).toEqual([
      { ...line('first', '{"a":1}'), number: 1 },
      { ...line('second'), level: 'warn', number: 2 },
    ])
    await store.saveRunLog(Array.from({ length: RUN_LOG_LINES }, (_, index) => line(`line ${index}`)))
    const kept = await store.listRunLog(runId)
    expect(kept).toHaveLength(RUN_LOG_LINES)
    expect(kept[0]).toMatchObject({ number: 3, message: 'line 0' })
    await store.saveRunLog([{ ...line('of nobody'), runId: 'run_none' }])
    expect(await store.listRunLog('run_none')).toEqual([])
  })
})
