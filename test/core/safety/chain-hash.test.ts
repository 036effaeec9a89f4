import { expect, test } from 'vitest'
import { chainHash } from '../../../src/core/safety/approval.ts'

const asked = { path: '/a', bytes: 1, modifiedAt: null }
const item = { runId: 'run_1', step: 'files.delete[a]', target: 'storage_a:a', asked }

test('the hash of an item covers the one before it, its run, step and target, and the state that was seen', () => {
  const hashes = [
    chainHash('before', item),
    chainHash('other', item),
    chainHash('before', { ...item, runId: 'run_2' }),
    chainHash('before', { ...item, step: 'files.delete[b]' }),
    chainHash('before', { ...item, target: 'storage_a:b' }),
    chainHash('before', { ...item, asked: { ...asked, path: '/b' } }),
    chainHash('before', { ...item, asked: { ...asked, bytes: 2 } }),
    chainHash('before', { ...item, asked: { ...asked, modifiedAt: '2026-01-01T00:00:00Z' } }),
    chainHash('before', { ...item, asked: null }),
  ]
  expect(new Set(hashes).size).toBe(hashes.length)
})
