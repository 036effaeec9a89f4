import { expect, test } from 'vitest'
import { prepareEvent } from '../../../src/app/rehearsal/gather-files.ts'

test('secrets are replaced at any depth, and storages have our names', () => {
  const body = JSON.stringify({
    id: 'evt_1',
    data: { service: 'Docs Suite', apiKey: 'canary', list: [{ password: 'canary', tokens: 3 }] },
  })
  expect(JSON.parse(prepareEvent(body, { storage_a: 'docs-suite' }))).toEqual({
    id: 'evt_1',
    data: { service: 'storage_a', apiKey: 'redacted', list: [{ password: 'redacted', tokens: 3 }] },
  })
})

test('a body without any stays byte for byte, large numbers included', () => {
  const body = '{ "id": "evt_1",  "data": { "size": 12345678901234567890, "service": "storage_b" } }'
  expect(prepareEvent(body, {})).toBe(body)
})
