import { expect, onTestFinished, test } from 'vitest'
import { startSandbox } from '../../../src/sandbox/index.ts'
import { tempFolder } from '../../support/temp-folder.ts'

async function openStorage() {
  const sandbox = await startSandbox({ dir: tempFolder() })
  onTestFinished(() => sandbox.stop())
  return { sandbox, storage: sandbox.storage('storage_a') }
}

test('a new file gets the id and the dates that are given, and keeps its id afterwards', async () => {
  const { storage } = await openStorage()
  const given = { id: 'fil 1/ü', createdAt: 1_000, modifiedAt: 2_000 }
  expect(await storage.put('/in/a.txt', 'one', given)).toMatchObject(given)
  expect(await storage.put('/in/a.txt', 'other', { id: 'fil 1/ü' })).toMatchObject({ id: 'fil 1/ü', size: 5 })
  await expect(storage.put('/in/a.txt', 'x', { id: 'fil_2' })).rejects.toMatchObject({ code: 'conflict' })
  await expect(storage.put('/in/b.txt', 'x', { id: 'fil 1/ü' })).rejects.toMatchObject({ code: 'conflict' })
  expect(storage.list().map(({ path, size }) => [path, size])).toEqual([
    ['/in', null],
    ['/in/a.txt', 5],
  ])
})

test('a size adds zeros to the bytes, and is never less than they are', async () => {
  const { storage } = await openStorage()
  expect(await storage.put('/a.bin', 'ab', { size: 5 })).toMatchObject({ size: 5 })
  expect([...(await storage.read('/a.bin'))]).toEqual([97, 98, 0, 0, 0])
  for (const size of [1, 2.5, -1]) {
    await expect(storage.put('/b.bin', 'ab', { size })).rejects.toMatchObject({ code: 'invalid_request' })
  }
})

test('a silent file causes no event, now or at a scan', async () => {
  const { sandbox, storage } = await openStorage()
  await storage.put('/quiet.txt', 'x', { silent: true })
  await storage.rescan()
  await storage.put('/loud.txt', 'x')
  expect(sandbox.events.list().map(({ data }) => (data.file as { path: string }).path)).toEqual(['/loud.txt'])
})
