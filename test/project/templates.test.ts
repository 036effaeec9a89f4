import { expect, test } from 'vitest'
import { withStorageNames } from '../../src/author/storage-name.ts'
import { transferCompleted } from '../../templates/cleanup/workflows/events.ts'
import { fileCreated } from '../../templates/minimal/workflows/record-arrival.workflow.ts'

const FILE = { path: '/in/a.txt', fileId: 'fil_1' }

test('the events of the templates take a storage by the name that the account gives it', () => {
  const read = withStorageNames({ storage_a: 'docs' }, () => [
    fileCreated.data.parse({ service: 'docs', file: { id: 'fil_1', path: '/in/a.txt' } }).service,
    transferCompleted.data.parse({
      transfer: { id: 'trf_1', source: { service: 'docs', ...FILE }, destination: { service: 'storage_b', ...FILE } },
    }).transfer.source.service,
  ])
  expect(read).toEqual(['storage_a', 'storage_a'])
})
