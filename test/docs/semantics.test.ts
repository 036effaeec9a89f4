import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')

test('each case of docs/semantics.md names a test that exists', () => {
  const [, cases = ''] = readFileSync(resolve(ROOT, 'docs/semantics.md'), 'utf8').split('## Cases')
  const rows = cases.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| case '))
  expect(rows.length).toBeGreaterThan(55)
  for (const row of rows) {
    const file = /`(test\/[^`]+)` \|$/.exec(row)?.[1]
    expect(file, row).toBeDefined()
    expect(existsSync(resolve(ROOT, file ?? '')), row).toBe(true)
  }
})
