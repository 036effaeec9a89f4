import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { FileEntry } from '../../../src/core/service/file.ts'
import { deleteAll } from '../../../src/files/operations/delete-all.ts'

const FILES = Array.from({ length: 9 }, (_, n) => ({ service: 'storage_a', id: `fil_${n}`, type: 'file' }) as FileEntry)

test('a list is deleted so many files at a time, each once, and told in its order', async () => {
  const atWork = new Set<string>()
  let most = 0
  const begun: string[] = []
  const found = await deleteAll(FILES, { atOnce: 4 }, async ({ id }) => {
    begun.push(id)
    most = Math.max(most, atWork.add(id).size)
    await turn()
    atWork.delete(id)
    return { outcome: id === 'fil_3' ? 'changed' : 'deleted', proof: 'none' }
  })
  expect(begun).toEqual(FILES.map(({ id }) => id))
  expect(most).toBe(4)
  expect(found.changed.map(({ id }) => id)).toEqual(['fil_3'])
  expect(found.deleted).toEqual(FILES.filter(({ id }) => id !== 'fil_3'))
})

test('where one delete of many fails, the others end first', async () => {
  const ended: string[] = []
  const failing = deleteAll(FILES, { atOnce: 2 }, async ({ id }) => {
    if (id === 'fil_1') throw new Error('no right')
    await turn()
    ended.push(id)
    return { outcome: 'deleted', proof: 'none' }
  })
  await expect(failing).rejects.toThrow('no right')
  expect(ended).toHaveLength(8)
})
