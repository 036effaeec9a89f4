import { expect } from 'vitest'
import type { Run } from '../../../../src/core/runs/run.ts'
import { planAdmission } from '../../../contract/support/ask-admission.ts'
import { checkpoint, queueRun } from '../../../support/fixtures.ts'
import { runHere } from '../../support/run-here.ts'
import { failRun, openTestProject, statusOf, test } from '../../support/test-project.ts'

test('runs resolve marks failed runs with a reason, which show and list tell, until that is undone', async () => {
  const { dataDir, store, cli } = await openTestProject()
  const id = await failRun(store, 'evt_1')
  expect(await cli('runs', 'resolve', id)).toMatchObject({ exit: 2, json: { error: { code: 'invalid_request' } } })
  expect((await store.countOpenRuns(Date.now())).openFailures).toBe(1)
  const next = `upshot runs retry ${id}\nA test of this failure:      upshot runs test ${id}\n`
  expect((await runHere(dataDir, ['runs', 'show', id])).stderr).toContain(next)
  const resolved = await runHere(dataDir, ['runs', 'resolve', id, '--reason', 'copied by hand'])
  expect(resolved).toMatchObject({ exit: 0, stdout: '1 run resolved.\n' })
  expect((await store.countOpenRuns(Date.now())).openFailures).toBe(0)
  expect((await runHere(dataDir, ['runs', 'show', id])).stderr).toBe('')
  expect((await runHere(dataDir, ['runs', 'show', id])).stdout).toMatch(/resolved {2}by cli:\S+, .*: copied by hand/)
  expect((await runHere(dataDir, ['runs', 'list'])).stdout).toContain('resolved: copied by hand')
  const other = await failRun(store, 'evt_2')
  const ids = async (option: string) => (await cli('runs', 'list', option)).json.data.map((run: Run) => run.id)
  expect([await ids('--resolved'), await ids('--unresolved')]).toEqual([[id], [other]])
  expect(await cli('runs', 'list', '--resolved', '--unresolved')).toMatchObject({ exit: 2 })
  await store.retryRun(other, Date.now())
  const [row] = await store.listActions({ limit: 1 })
  expect(row).toMatchObject({ action: 'run.resolve', target: id, reason: 'copied by hand', outcome: 'done' })
  expect(await cli('runs', 'resolve', id, '--reason', 'again')).toMatchObject({ exit: 1 })
  expect((await cli('runs', 'resolve', id, '--undo')).json).toMatchObject({ data: { done: 1 } })
  expect((await store.countOpenRuns(Date.now())).openFailures).toBe(1)
  expect(await cli('runs', 'resolve', id, '--undo')).toMatchObject({ exit: 1, json: { error: { code: 'conflict' } } })
  expect((await cli('runs', 'resolve', '--status', 'failed', '--reason', 'all of them', '--yes')).exit).toBe(0)
  expect(await statusOf(store, id)).toBe('failed')
})

test('runs retry refuses a run that a rule canceled, and names fork and replay instead', async ({ store, cli }) => {
  const id = await queueRun(store, 'evt_1', 'count', Date.now())
  const [run] = await store.claimRuns('wrk_1', 1, Date.now())
  if (!run) throw new Error('a run was queued')
  await store.admitRun(run.lease, planAdmission({ startBy: 0 }), Date.now())
  const { exit, json } = await cli('runs', 'retry', id)
  expect({ exit, code: json.error.code }).toEqual({ exit: 1, code: 'conflict' })
  expect(json.error.message).toContain('a rule of its workflow canceled it (timeout: it had not started by')
  expect(json.error.fix).toContain(`upshot runs fork ${id} --from-step <step>`)
  expect(json.error.fix).toContain('upshot events replay evt_1 --workflow count')
  expect(await statusOf(store, id)).toBe('canceled')
})

test('runs retry asks with the number of selected runs, and changes nothing under --dry-run', async () => {
  const { dataDir, store, cli } = await openTestProject()
  const ids = [await failRun(store, 'evt_1'), await failRun(store, 'evt_2')]
  await queueRun(store, 'evt_3', 'count', Date.now())
  const args = ['runs', 'retry', '--status', 'failed', '--workflow', 'follow-up', '--since', '1h']
  const asked = await cli(...args)
  expect(asked).toMatchObject({ exit: 3, json: { ok: false, error: { code: 'needs_confirmation' } } })
  expect(asked.json.error.message).toContain('retry 2 runs (failed, of the workflow follow-up, created since')
  const told = await runHere(dataDir, [...args, '--dry-run'])
  expect(told).toMatchObject({ exit: 0, stdout: expect.stringMatching(/^This would retry 2 runs \(failed, /) })
  expect(told.stderr).toContain(ids[0])
  expect(await Promise.all(ids.map((id) => statusOf(store, id)))).toEqual(['failed', 'failed'])
  expect((await cli(...args, '--yes')).json.data).toMatchObject({ done: 2, refused: 0 })
  expect(await Promise.all(ids.map((id) => statusOf(store, id)))).toEqual(['pending', 'pending'])
  const none = await cli('runs', 'retry', '--since', '2099-01-01')
  expect(none).toMatchObject({ exit: 0, json: { data: { done: 0 } } })
})

test('runs resume --restart asks even for a run by name, and begins without the steps of before', async () => {
  const { store, cli } = await openTestProject()
  const id = await queueRun(store, 'evt_1', 'count', Date.now())
  const [run] = await store.claimRuns('wrk_1', 1, Date.now())
  if (!run) throw new Error('a run was queued')
  await store.saveCheckpoint(run.lease, checkpoint('a'))
  await store.parkRun(run.lease, { dueAt: null, reason: 'diverged' })
  const restart = (...args: string[]) => cli('runs', 'resume', id, '--restart', ...args)
  expect(await restart()).toMatchObject({ exit: 3, json: { error: { code: 'needs_confirmation' } } })
  expect(await store.listSteps(id)).toHaveLength(1)
  expect((await restart('--yes')).json.data).toMatchObject({ done: 1 })
  expect([await statusOf(store, id), await store.listSteps(id)]).toEqual(['pending', []])
})
