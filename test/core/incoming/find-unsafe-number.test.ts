import { expect, test } from 'vitest'
import { findUnsafeNumber } from '../../../src/core/incoming/scan-json.ts'

function find(text: string): string | null {
  return findUnsafeNumber({ data: JSON.parse(text) }, text)
}

test.each([
  ['{"file":{"id":9007199254740993}}', 'data.file.id'],
  ['{"ids":[1, -12345678901234567890]}', 'data.ids.1'],
  ['{"id": 1e300}', 'data.id'],
])('the number in %s that JSON.parse rounds is found at %s', (text, path) => {
  expect(find(text)).toBe(path)
})

test.each([
  '{"id":"9007199254740993"}',
  '{"id":9007199254740991}',
  '{"rate":0.12345678901234567}',
  '{"size":1e3}',
  '{}',
])('no number in %s is unsafe', (text) => {
  expect(find(text)).toBe(null)
})
