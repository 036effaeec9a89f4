import { expect, test } from 'vitest'
import type { HandLedger } from '../../../src/app/service/remove-files.ts'
import { removeFiles } from '../../../src/app/service/remove-files.ts'

test('where the ledger cannot be written, no further delete begins and none is in flight', async () => {
  const found = Array.from({ length: 20 }, (_, index) => {
    return { service: 'storage_a', id: String(index), path: `/${index}.txt`, size: 5, modifiedAt: null } as const
  })
  const answer = Promise.withResolvers<void>()
  const begun: string[] = []
  let inFlight = 0
  const ledger = {
    begin: async ({ id }: { id: string }) => {
      begun.push(id)
      if (id === '0') throw new Error('the ledger cannot be written')
      return { seq: 1 }
    },
    end: async () => void inFlight--,
  } as unknown as HandLedger
  const remove = async () => {
    inFlight++
    await answer.promise
    return { outcome: 'deleted' } as never
  }
  const { signal } = new AbortController()
  const removing = removeFiles({ files: { delete: remove }, ledger }, found, { signal, onDone: () => {} })
  setImmediate(answer.resolve)
  await expect(removing).rejects.toThrow('the ledger cannot be written')
  expect([begun, inFlight]).toEqual([['0', '1', '2', '3'], 0])
})
