import { expect, test } from 'vitest'
import type { Tags } from '../../../../src/core/runs/annotations/tags.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { queueRun } from '../../../support/fixtures.ts'
import { runHere } from '../../support/run-here.ts'
import { openTestProject, statusOf } from '../../support/test-project.ts'

async function fail(store: Store, eventId: string, tags: Tags): Promise<string> {
  const id = await queueRun(store, eventId, 'follow-up', Date.now())
  const [run] = await store.claimRuns('wrk_1', 1, Date.now())
  if (!run) throw new Error('a run was queued')
  await store.saveTags(run.lease, tags)
  await store.failRun(run.lease, { name: 'Error', message: 'no luck' }, Date.now())
  return id
}

test('runs are listed, grouped, shown and retried by their tags', async () => {
  const { dataDir, store, cli } = await openTestProject()
  const one = await fail(store, 'evt_1', { customer: 'acme corp', region: 'eu' })
  const two = await fail(store, 'evt_2', { customer: 'acme corp' })
  const three = await fail(store, 'evt_3', {})
  const ids = async (...options: string[]) =>
    (await cli('runs', 'list', ...options)).json.data.map(({ id }: { id: string }) => id)
  expect(await ids('--tag', 'customer=acme corp')).toEqual([two, one])
  expect(await ids('--tag', 'customer=acme corp', '--tag', 'region=eu')).toEqual([one])
  expect(await ids('--tag', 'customer=acme corp', '--status', 'completed')).toEqual([])
  const listed = (await runHere(dataDir, ['runs', 'list'])).stdout
  expect(listed).toContain('TAGS')
  expect(listed).toContain('customer=acme corp, region=eu')
  expect((await runHere(dataDir, ['runs', 'list', '--event', 'evt_3'])).stdout).not.toContain('TAGS')
  expect((await runHere(dataDir, ['runs', 'show', one])).stdout).toContain('tags      customer=acme corp, region=eu')
  const summary = async (tag: string) => (await cli('runs', 'summary', '--tag', tag)).json.data
  expect(await summary('region=eu')).toMatchObject([{ runs: 1, lastRun: one }])
  expect(await summary('region=us')).toEqual([])
  const wrong = await cli('runs', 'list', '--tag', 'acme')
  expect(wrong).toMatchObject({ exit: 2, json: { error: { message: expect.stringContaining('customer=acme') } } })
  const asked = await runHere(dataDir, ['runs', 'retry', '--tag', 'customer=acme corp', '--tag', 'region=eu'])
  expect(asked.stderr).toContain('retry 1 run (with the tag customer=acme corp and region=eu)')
  expect((await cli('runs', 'retry', '--tag', 'customer=acme corp', '--yes')).json.data).toMatchObject({ done: 2 })
  expect([await statusOf(store, two), await statusOf(store, three)]).toEqual(['pending', 'failed'])
})
