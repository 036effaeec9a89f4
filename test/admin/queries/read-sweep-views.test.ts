import { expect, test } from 'vitest'
import { readSweepViews } from '../../../src/admin/queries/read-sweep-views.ts'
import type { StorageName } from '../../../src/core/service/storage.ts'
import { NOW } from '../../support/fixtures.ts'

type Reads = Parameters<typeof readSweepViews>[0]

test('a storage that lost very many files hides no loss of another', async () => {
  const findings = Array.from({ length: 10_001 }, (_, n) => ({
    account: 'default',
    storage: (n < 10_000 ? 'storage_a' : 'storage_b') as StorageName,
    state: 'held',
  }))
  const listFindings = async ({ storage, limit }: Parameters<Reads['listFindings']>[0]) =>
    findings.filter((each) => storage === undefined || each.storage === storage).slice(0, limit)
  const state = { complete: [], ended: null, phase: 'idle', seen: 0, total: null }
  const listSweeps = async () => ['storage_a', 'storage_b'].map((storage) => ({ account: 'default', storage, state }))
  const views = await readSweepViews({ listFindings, listSweeps } as unknown as Reads, NOW)
  expect(views.map(({ lost, held }) => [lost, held])).toEqual([
    [10_000, 10_000],
    [1, 1],
  ])
})
