import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { cron } from '../../../src/author/cron.ts'
import { runCommandLine } from '../../../src/cli/run-command-line.ts'
import { planEndpoint } from '../../../src/core/incoming/endpoint.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { openStore } from '../../../src/project/data-dir/open-store.ts'
import { checkpoint, incoming, queueRun } from '../../support/fixtures.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { runCli } from '../support/run-cli.ts'

const MAIN = resolve(import.meta.dirname, '../../../src/cli/main.ts')

// A busy machine takes seconds to start a process or to open a database.
vi.setConfig({ testTimeout: 90_000 })

const ERROR = { name: 'Error', message: 'no luck', step: 'b' }

/**
 * A data directory with three workflows in it, one of them with a cron line, and nothing that runs.
 */
async function openProject() {
  const dataDir = tempFolder()
  const store = openStore({ dataDir, secretKey: null })
  onTestFinished(() => store.close())
  await store.addEndpoint(planEndpoint({ name: 'main' }, Date.now()))
  const workflow = (id: string, eventTypes: string[]) => ({ id, file: `${id}.workflow.ts`, eventTypes, schedule: null })
  const nightly = { ...workflow('nightly', []), schedule: cron('0 3 * * *') }
  const workflows = [workflow('follow-up', ['file.created']), workflow('count', ['*']), nightly]
  await store.saveWorkflows({ workflows, broken: [] }, Date.now())
  const cli = (...args: string[]) => runHere(dataDir, [...args, '--json'])
  return { dataDir, store, cli }
}

/**
 * The command line within this process: the same but for the time that a process takes to start.
 */
async function runHere(dataDir: string, args: readonly string[]) {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() }
  process.env.UPSHOT_DATA_DIR = dataDir
  const exit = await runCommandLine(args, streams)
  streams.stdout.end()
  streams.stderr.end()
  const [stdout, stderr] = await Promise.all([text(streams.stdout), text(streams.stderr)])
  // biome-ignore lint/suspicious/noExplicitAny: the documents are what the tests look into
  return { exit, stdout, stderr, json: args.includes('--json') ? (JSON.parse(stdout) as any) : undefined }
}

async function failRun(store: Store, eventId: string): Promise<string> {
  const now = Date.now()
  const id = await queueRun(store, eventId, 'follow-up', now)
  const [run] = await store.claimRuns('wrk_1', 1, now)
  if (!run) throw new Error('a run was queued')
  await store.saveCheckpoint(run.lease, checkpoint('a', { output: '"from a"', startedAt: now, finishedAt: now }))
  const failed = { position: 1, status: 'failed', output: null, error: ERROR, startedAt: now, finishedAt: now } as const
  await store.saveCheckpoint(run.lease, checkpoint('b', failed))
  await store.failRun(run.lease, ERROR, now)
  return id
}

const statusOf = async (store: Store, id: string) => (await store.findRun(id))?.status

test('retries a failed run that is named, and refuses one that is in another state', async () => {
  const { store, cli } = await openProject()
  const id = await failRun(store, 'evt_1')
  expect((await cli('runs', 'retry', id)).json).toMatchObject({ ok: true, data: { done: 1, refused: 0 } })
  expect(await statusOf(store, id)).toBe('pending')
  expect(await cli('runs', 'retry', id)).toMatchObject({ exit: 1, json: { error: { code: 'conflict' } } })
  expect(await cli('runs', 'retry', 'run_none')).toMatchObject({ exit: 5, json: { error: { code: 'not_found' } } })
  expect(await cli('runs', 'retry')).toMatchObject({ exit: 2, json: { error: { code: 'invalid_request' } } })
  expect(await cli('runs', 'retry', id, '--status', 'failed')).toMatchObject({ exit: 2 })
})

test('says how many runs it would retry, does it only when told to, and not under --dry-run', async () => {
  const { dataDir, store, cli } = await openProject()
  const ids = [await failRun(store, 'evt_1'), await failRun(store, 'evt_2')]
  await queueRun(store, 'evt_3', 'count', Date.now())
  const args = ['runs', 'retry', '--status', 'failed', '--workflow', 'follow-up', '--since', '1h']
  const asked = await cli(...args)
  expect(asked).toMatchObject({ exit: 3, json: { ok: false, error: { code: 'needs_confirmation' } } })
  expect(asked.json.error.message).toContain('retry 2 runs (failed, of the workflow follow-up, created since')
  const told = await runHere(dataDir, [...args, '--dry-run'])
  expect(told).toMatchObject({ exit: 0, stdout: '2 runs would be retried.\n' })
  expect(told.stderr).toContain(ids[0])
  expect(await Promise.all(ids.map((id) => statusOf(store, id)))).toEqual(['failed', 'failed'])
  expect((await cli(...args, '--yes')).json.data).toMatchObject({ done: 2, refused: 0 })
  expect(await Promise.all(ids.map((id) => statusOf(store, id)))).toEqual(['pending', 'pending'])
  const none = await cli('runs', 'retry', '--since', '2099-01-01')
  expect(none).toMatchObject({ exit: 0, json: { data: { done: 0 } } })
})

test('cancels more runs than a page holds, in slices', async () => {
  const { store, cli } = await openProject()
  const now = Date.now()
  await Promise.all(
    Array.from({ length: 620 }, (_, n) =>
      store.saveDelivery(incoming(`evt_${n}`, { workflows: ['count'], receivedAt: now })),
    ),
  )
  const canceled = await cli('runs', 'cancel', '--workflow', 'count', '--reason', 'too many', '--yes')
  expect(canceled.json.data).toMatchObject({ done: 620, refused: 0 })
  const runs = await store.listRuns({ limit: 1_000 })
  expect(runs.filter((run) => run.status === 'canceled' && run.reason === 'too many')).toHaveLength(620)
})

test('cancels the runs whose ids are piped in, and tells which it could not', async () => {
  const { dataDir, store } = await openProject()
  const failed = await failRun(store, 'evt_1')
  const pending = await queueRun(store, 'evt_2', 'count', Date.now())
  const result = await runCli(dataDir, ['runs', 'cancel', '-', '--json'], { input: `${failed}\n${pending}\n` })
  expect(result).toMatchObject({ exit: 1, json: { data: { done: 1, refused: 1 } } })
  expect(result.json.data.runs).toContainEqual({
    run: failed,
    workflow: 'follow-up',
    done: false,
    why: 'it is failed already',
  })
})

test('resumes a run that waits for a person; from scratch only when told to', async () => {
  const { store, cli } = await openProject()
  const id = await queueRun(store, 'evt_1', 'count', Date.now())
  const park = async () => {
    const [run] = await store.claimRuns('wrk_1', 1, Date.now())
    if (!run) throw new Error('a run was queued')
    await store.saveCheckpoint(run.lease, checkpoint('a'))
    await store.parkRun(run.lease, { dueAt: null, reason: 'its filter threw' })
  }
  await park()
  expect((await cli('runs', 'resume', id)).json.data).toMatchObject({ done: 1 })
  expect(await store.listSteps(id)).toHaveLength(1)
  await park()
  expect(await cli('runs', 'resume', id, '--restart')).toMatchObject({ exit: 3 })
  expect((await cli('runs', 'resume', id, '--restart', '--yes')).json.data).toMatchObject({ done: 1 })
  expect(await store.listSteps(id)).toEqual([])
})

test('forks a run from a step on with a result of its own, and both show where they come from', async () => {
  const { dataDir, store, cli } = await openProject()
  const id = await failRun(store, 'evt_1')
  const forked = await cli('runs', 'fork', id, '--from-step', 'b', '--set-output', '{"by":"hand"}')
  expect(forked.json.data).toMatchObject({ from: id, keeps: ['a'], edited: true })
  const { run } = forked.json.data
  const shown = await cli('runs', 'show', run)
  expect(shown.json.data).toMatchObject({
    origin: 'fork',
    originRun: id,
    steps: [
      { key: 'a', output: 'from a' },
      { key: 'b', status: 'completed', output: { by: 'hand' } },
    ],
  })
  expect((await cli('runs', 'show', id)).json.data.children).toEqual([
    { id: run, workflow: 'follow-up', status: 'pending', origin: 'fork', handler: 'run' },
  ])
  expect((await runHere(dataDir, ['runs', 'show', run])).stdout).toMatch(new RegExp(`lineage +forked from ${id}\n`))
  expect((await runHere(dataDir, ['runs', 'show', id])).stdout).toMatch(new RegExp(`${run} +forked from it +pending`))
  const unknown = await cli('runs', 'fork', id, '--from-step', 'z')
  expect(unknown).toMatchObject({ exit: 5, json: { error: { fix: 'Choose one of: a, b.' } } })
  expect(await cli('runs', 'fork', id, '--from-step', 'b', '--set-output', '{by}')).toMatchObject({ exit: 2 })
  expect((await cli('runs', 'list', '--origin', 'fork')).json.data).toMatchObject([{ id: run }])
})

test('replays an event to all workflows that run on it, or to one, and refuses what nothing runs on', async () => {
  const { store, cli } = await openProject()
  const first = await failRun(store, 'evt_1')
  const replayed = await cli('events', 'replay', 'evt_1')
  expect(replayed.json.data.runs.map(({ workflow }: { workflow: string }) => workflow)).toEqual(['count', 'follow-up'])
  const [, followUp] = replayed.json.data.runs
  expect(await store.findRun(followUp.run)).toMatchObject({ origin: 'replay', originRun: first, status: 'pending' })
  expect((await cli('events', 'replay', 'evt_1', '--workflow', 'count')).json.data.runs).toHaveLength(1)
  expect(await cli('events', 'replay', 'evt_1', '--workflow', 'nightly')).toMatchObject({ exit: 1 })
  expect(await cli('events', 'replay', 'evt_1', '--workflow', 'gone')).toMatchObject({ exit: 5 })
  expect(await cli('events', 'replay', 'evt_none')).toMatchObject({ exit: 5 })
  expect(await cli('events', 'replay', 'evt_1', '--account', 'other')).toMatchObject({ exit: 5 })
  expect(await store.listEvents({ limit: 9 })).toHaveLength(1)
})

test('replays the events of a time, counted first', async () => {
  const { store, cli } = await openProject()
  for (const [n, ago] of [
    [1, 7_200_000],
    [2, 60_000],
    [3, 30_000],
  ] as const) {
    await store.saveDelivery(incoming(`evt_${n}`, { workflows: [], receivedAt: Date.now() - ago }))
  }
  const args = ['events', 'replay', '--since', '1h', '--workflow', 'count']
  const asked = await cli(...args)
  expect(asked).toMatchObject({ exit: 3 })
  expect(asked.json.error.message).toContain('replay 2 events as 2 new runs')
  expect((await cli(...args, '--dry-run')).json.data).toEqual({ dryRun: true, events: 2, runs: 2 })
  const { runs } = (await cli(...args, '--yes')).json.data
  expect(runs.map(({ event }: { event: string }) => event)).toEqual(['evt_2', 'evt_3'])
})

test('pauses a workflow, counts what it holds, and lets it go', async () => {
  const { dataDir, store, cli } = await openProject()
  const id = await queueRun(store, 'evt_1', 'count', Date.now())
  expect((await cli('workflows', 'pause', 'count')).json.data).toMatchObject({ held: 1, changed: true })
  expect((await cli('workflows', 'pause', 'count')).json.data).toMatchObject({ held: 1, changed: false })
  expect(await store.claimRuns('wrk_1', 9, Date.now())).toEqual([])
  const listed = (await cli('workflows', 'list')).json.data
  expect(listed).toMatchObject([
    { id: 'count', held: 1, pausedAt: expect.stringMatching(/Z$/) },
    { id: 'follow-up' },
    {},
  ])
  expect((await runHere(dataDir, ['workflows', 'show', 'count'])).stdout).toMatch(/paused since .*, 1 runs held/)
  expect(await cli('runs', 'resume', id)).toMatchObject({ exit: 1, json: { error: { code: 'conflict' } } })
  expect((await cli('workflows', 'resume', 'count')).json.data).toMatchObject({ released: 1, changed: true })
  expect(await statusOf(store, id)).toBe('pending')
  expect(await cli('workflows', 'pause', 'cuont')).toMatchObject({
    exit: 5,
    json: { error: { fix: 'Choose one of: count, follow-up, nightly.' } },
  })
})

test('lets runs go on that a resume which was killed left behind', async () => {
  const { store } = await openProject()
  const id = await queueRun(store, 'evt_1', 'count', Date.now())
  await store.pauseWorkflow('count', Date.now())
  await store.holdRuns('count', 10)
  await store.recoverRuns(Date.now(), 30_000)
  expect(await statusOf(store, id)).toBe('waiting')
  await store.resumeWorkflow('count')
  await store.recoverRuns(Date.now(), 30_000)
  expect(await statusOf(store, id)).toBe('pending')
})

test('lists schedules with their next moment, makes a tick by hand, pauses and resumes', async () => {
  const { store, cli } = await openProject()
  await store.startSchedule('nightly', '0 3 * * *', Date.now())
  const [schedule] = (await cli('schedules', 'list')).json.data
  expect(schedule).toMatchObject({ workflow: 'nightly', lastTickAt: null, missed: 0, skipped: 0, unfinished: 0 })
  expect(schedule.nextAt).toMatch(/T03:00:00\.000Z$/)
  const made = (await cli('schedules', 'run', 'nightly')).json.data
  expect(await store.findRun(made.run)).toMatchObject({ origin: 'manual', status: 'pending', workflow: 'nightly' })
  const second = (await cli('schedules', 'run', 'nightly')).json.data
  expect(await statusOf(store, second.run)).toBe('waiting')
  expect((await cli('schedules', 'pause', 'nightly')).json.data).toEqual({ workflow: 'nightly', changed: true })
  expect((await cli('schedules', 'pause', 'nightly')).json.data).toEqual({ workflow: 'nightly', changed: false })
  expect((await cli('schedules', 'list')).json.data).toMatchObject([{ nextAt: null, unfinished: 2 }])
  expect((await cli('schedules', 'resume', 'nightly')).json.data).toEqual({ workflow: 'nightly', changed: true })
  expect(await cli('schedules', 'run', 'count')).toMatchObject({ exit: 5 })
})

test.each(['runs', 'events'])('follows %s until Ctrl-C, a document a line', async (group) => {
  const { dataDir, store } = await openProject()
  await queueRun(store, 'evt_0', 'count', Date.now())
  const child = spawn(process.execPath, [MAIN, group, 'tail', '--json'], {
    env: { PATH: process.env.PATH ?? '', UPSHOT_DATA_DIR: dataDir },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await lines.next()).value ?? 'null')
  const idOf = (row: { id: string; eventId?: string }) => (group === 'runs' ? row.eventId : row.id)
  expect(idOf(await next())).toBe('evt_0')
  await queueRun(store, 'evt_1', 'count', Date.now())
  expect(idOf(await next())).toBe('evt_1')
  if (group === 'runs') {
    const [run] = await store.claimRuns('wrk_1', 1, Date.now())
    expect(await next()).toMatchObject({ id: run?.lease.runId, status: 'running', eventId: 'evt_0' })
    await store.cancelRun(run?.lease.runId ?? '', 'by hand', Date.now())
    expect(await next()).toMatchObject({ id: run?.lease.runId, status: 'canceled', reason: 'by hand' })
  }
  child.kill('SIGINT')
  expect(await exited).toEqual([0, null])
  expect(await lines.next()).toMatchObject({ done: true })
})
