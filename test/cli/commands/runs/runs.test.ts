import { expect } from 'vitest'
import { defineWorkflow } from '../../../../src/author/define-workflow.ts'
import type { Tags } from '../../../../src/core/runs/annotations/tags.ts'
import type { Run } from '../../../../src/core/runs/run.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { planAdmission } from '../../../contract/support/ask-admission.ts'
import { checkpoint, queueRun } from '../../../support/fixtures.ts'
import { startTestApp } from '../../../support/test-app.ts'
import { runHere } from '../../support/run-here.ts'
import { beginRun, failRun, openTestProject, statusOf, test } from '../../support/test-project.ts'

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

test('runs show names the fork of a run whose `once` step failed, which a retry does not begin again', async () => {
  const { dataDir, store } = await openTestProject()
  const lease = await beginRun(store, 'evt_1')
  const once = { name: 'Error', message: 'no answer', step: 'ring[bell]', once: true } as const
  await store.failRun(lease, once, Date.now())
  const { stderr } = await runHere(dataDir, ['runs', 'show', lease.runId])
  expect(stderr).toContain(`upshot runs fork ${lease.runId} --from-step "ring[bell]"`)
  expect(stderr).not.toContain('runs retry')
})

test('runs retry refuses a run that a rule canceled, and names fork and replay instead', async ({ store, cli }) => {
  const lease = await beginRun(store, 'evt_1', 'count')
  const id = lease.runId
  await store.admitRun(lease, planAdmission({ startBy: 0 }), Date.now())
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
  const lease = await beginRun(store, 'evt_1', 'count')
  const id = lease.runId
  await store.saveCheckpoint(lease, checkpoint('a'))
  await store.parkRun(lease, { dueAt: null, reason: 'diverged' })
  const restart = (...args: string[]) => cli('runs', 'resume', id, '--restart', ...args)
  expect(await restart()).toMatchObject({ exit: 3, json: { error: { code: 'needs_confirmation' } } })
  expect(await store.listSteps(id)).toHaveLength(1)
  expect((await restart('--yes')).json.data).toMatchObject({ done: 1 })
  expect([await statusOf(store, id), await store.listSteps(id)]).toEqual(['pending', []])
})

/** A run of `workflow` that failed in `step` with this message. */
async function failWith(
  store: Store,
  message: string,
  { eventId = 'evt_1', step = 'copy', workflow = 'follow-up' } = {},
) {
  const lease = await beginRun(store, eventId, workflow)
  await store.failRun(lease, { name: 'Error', message, step }, Date.now())
  return lease.runId
}

test('runs summary groups failures by kind, and a group is listed and retried as one', async () => {
  const { dataDir, store, cli } = await openTestProject()
  const same = [
    await failWith(store, 'fil_1 has 12 bytes', { eventId: 'evt_1' }),
    await failWith(store, 'fil_2 has 7 bytes', { eventId: 'evt_2' }),
  ]
  const other = await failWith(store, 'no luck', { eventId: 'evt_3', step: 'hash' })
  const summary = (await cli('runs', 'summary')).json
  expect(summary).toMatchObject({ ok: true, waitingForPerson: 0, searched: { isComplete: true, rows: 3 } })
  expect(summary.data).toHaveLength(2)
  const group = summary.data.find(({ runs }: { runs: number }) => runs === 2)
  expect(group).toMatchObject({ message: '<id> has <n> bytes', step: 'copy', lastRun: same[1] })
  expect(group.lastAt).toMatch(/^\d{4}-\d\d-\d\dT/)
  const listed = (await cli('runs', 'list', '--group', group.id)).json.data
  expect(listed.map(({ id }: { id: string }) => id)).toEqual(same.toReversed())
  const asked = await runHere(dataDir, ['runs', 'retry', '--group', group.id])
  expect(asked).toMatchObject({ exit: 3 })
  expect(asked.stderr).toContain(`retry 2 runs (of the group ${group.id})`)
  expect((await cli('runs', 'retry', '--group', group.id, '--yes')).json.data).toMatchObject({ done: 2 })
  expect((await store.findRun(other))?.status).toBe('failed')
})

async function fail(store: Store, eventId: string, tags: Tags): Promise<string> {
  const lease = await beginRun(store, eventId)
  await store.saveTags(lease, tags)
  await store.failRun(lease, { name: 'Error', message: 'no luck' }, Date.now())
  return lease.runId
}

test('runs are listed, grouped, shown and retried by their tags', async ({ dataDir, store, cli }) => {
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

test('"runs show" says of a run at work for how long nothing has ended, and which step was the last', async () => {
  const { store, dataDir } = await openTestProject()
  const begunAt = Date.now() - 200_000
  const lease = await beginRun(store, 'evt_1', 'stuck', begunAt)
  const save = (key: string, finishedAt: number | null) =>
    store.saveCheckpoint(lease, checkpoint(key, { status: finishedAt ? 'completed' : 'started', finishedAt }))
  const shown = async () => (await runHere(dataDir, ['runs', 'show', lease.runId])).stdout
  await save('copy', begunAt + 10_000)
  expect(await shown()).toMatch(
    /why +nothing has ended for 3 min 1\d s, since step "copy": a step is at work, or its code awaits something else/,
  )
  await save('mail', null)
  expect(await shown()).toMatch(/since step "copy": step "mail" is at work/)
  await save('mail', Date.now())
  expect(await shown()).not.toContain('nothing has ended')
})

const nap = defineWorkflow({
  id: 'nap',
  on: 'transfer.completed',
  async run({ step }) {
    await step.sleep('grace', '15m')
    return 'rested'
  },
})

test('a person ends the sleep of a run that they name, with an audit row, and of no other', async () => {
  const { app, dataDir, hear } = await startTestApp({ workflows: [nap] })
  const { run } = await hear('run.parked')
  const resume = (...args: string[]) => runHere(dataDir, ['runs', 'resume', ...args, '--skip-sleep', '--json'])
  const { json } = await runHere(dataDir, ['runs', 'resume', run, '--json'])
  expect(json.error).toMatchObject({ code: 'conflict', fix: expect.stringContaining(`resume ${run} --skip-sleep`) })
  expect((await resume(run, '--dry-run')).json.data).toMatchObject({ dryRun: true, matched: 1 })
  expect((await resume(run)).json.data).toMatchObject({ done: 1, refused: 0 })
  expect(await hear('run.completed')).toMatchObject({ run })
  expect(await app.store.findRun(run)).toMatchObject({ output: '"rested"' })
  expect(await app.store.listActions({ limit: 5 })).toMatchObject([{ action: 'run.skip_sleep', target: run }])
  expect(await resume(run)).toMatchObject({
    exit: 1,
    json: { error: { message: `Run ${run} neither sleeps nor pauses before the next attempt of a step.` } },
  })
  expect((await resume('--status', 'waiting')).exit).toBe(2)
})
