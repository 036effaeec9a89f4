import { App } from '../../src/app/app.ts'
import { cron } from '../../src/author/cron.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import type { AnyWorkflow } from '../../src/author/workflow.ts'
import { newId } from '../../src/core/ids.ts'
import type { HookAnswer } from '../../src/core/incoming/hook.ts'
import { LEASE_MS } from '../../src/core/runs/lease.ts'
import type { Run } from '../../src/core/runs/run.ts'
import type { NewSchedule } from '../../src/core/runs/schedule.ts'
import type { AuditEntry } from '../../src/core/safety/audit.ts'
import type { Store } from '../../src/core/store/store.ts'
import { ManualClock } from '../../src/core/time.ts'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'
import type { Config } from '../../src/project/config/load-config.ts'
import { storeOptions } from '../../src/project/data-dir/open-store.ts'
import { openStore } from '../../src/store/open-store.ts'
import { wordOf } from '../contract/support/word-of.ts'
import { awaitRuns } from '../support/await-runs.ts'
import { incoming } from '../support/fixtures.ts'
import { postDelivery } from '../support/post-delivery.ts'
import { NO_SERVICE, testConfig, WEBHOOK_SECRET } from '../support/test-config.ts'

/** The last moment of the old version, and the first one of the new. */
const ENDED_AT = Date.UTC(2026, 5, 1, 12)
const HOUR_MS = 3_600_000

/** Where a database is. The key of its secrets is the same in every version. */
export type Place = Pick<Config, 'dataDir' | 'database'>

export const configOf = (place: Place) =>
  testConfig(place.dataDir, {
    ...place,
    service: NO_SERVICE,
    secretKey: Buffer.alloc(32, 7).toString('base64'),
    publicUrl: 'https://upshot.example.com',
  })

const PLANNED: NewSchedule = {
  id: newId('sch', ENDED_AT),
  name: 'by-anna',
  owner: 'person',
  madeBy: 'anna',
  workflow: null,
  plan: {
    kind: 'once',
    at: ENDED_AT + HOUR_MS,
    accounts: ['default'],
    catchUp: 'latest',
    withinMs: 24 * HOUR_MS,
    overlap: 'queue',
  },
  input: JSON.stringify({ type: 'file.planned', account: 'default', data: '{}' }),
}

const ACTION: Omit<AuditEntry, 'at'> = {
  actor: 'anna',
  role: 'admin',
  from: 'here',
  reason: 'to be kept',
  action: 'workflow.pause',
  target: 'held',
  parameters: {},
}

const on = 'file.created'
/** More than a row holds. */
const LARGE = 'x'.repeat(100_000)
const cured = new Set<string>()

/** One for each way in which a run can stand still. Kept databases have runs of each of them. */
const WORKFLOWS: AnyWorkflow[] = [
  defineWorkflow({
    id: 'sleeping',
    on,
    tags: () => ({ customer: 'acme' }),
    async run({ step, log, progress }) {
      const before = await step.run('before', () => 'before', { target: 'https://example.com/a', input: { a: 1 } })
      log.info('goes to sleep')
      progress(1, 2)
      await step.sleep('nap', '2d')
      return [before, await step.run('after', () => 'after', { target: 'https://example.com/b' })]
    },
  }),
  defineWorkflow({
    id: 'waiting',
    on,
    run: async ({ step }) => (await step.waitFor('retired', { on: 'file.retired', timeout: '9d' }))?.id ?? null,
  }),
  defineWorkflow({
    id: 'scanning',
    on,
    async run({ step }) {
      const scan = await step.hook('scan', { expires: '9d' })
      return (await step.waitFor('scanned', scan))?.data ?? null
    },
  }),
  defineWorkflow({
    id: 'asking',
    on,
    run: async ({ step }) => (await step.approve('go on', { ask: 'Go on?', timeout: '9d' })).approved,
  }),
  defineWorkflow({
    id: 'limited',
    on,
    singleton: { onConflict: 'queue' },
    run: ({ step }) => step.sleep('nap', '1d'),
  }),
  defineWorkflow({ id: 'gathering', on, batch: { size: 9, wait: '1d' }, run: ({ events }) => events.length }),
  defineWorkflow({
    id: 'failing',
    on,
    run: ({ step }) =>
      step.run('try', () => {
        if (!cured.has('failing')) throw new Error('not yet')
        return 'late'
      }),
    retry: { attempts: 1 },
  }),
  defineWorkflow({
    id: 'deleting',
    on,
    guard: { deletes: { perRun: 0 } },
    run: ({ step }) =>
      step.run('remove', () => 'removed', { effect: 'delete', target: 'https://example.com/c', input: { id: 'c' } }),
  }),
  defineWorkflow({ id: 'large', on, run: ({ step }) => step.run('read', () => LARGE) }),
  defineWorkflow({ id: 'nightly', on: cron('0 3 * * *'), run: () => 'tick' }),
  defineWorkflow({ id: 'held', on, run: () => 'released' }),
]

/** Outputs that the first run of each workflow has in the end. */
export const OUTPUTS = {
  sleeping: ['before', 'after'],
  waiting: 'evt_retired',
  scanning: { verdict: 'clean' },
  asking: true,
  deleting: 'removed',
  limited: null,
  gathering: 2,
  failing: 'late',
  large: LARGE,
  nightly: 'tick',
  held: 'released',
}

/** A database as a process leaves it that was killed: runs of every state, and a sealed ledger. */
export async function liveUntilDeath(place: Place): Promise<void> {
  cured.clear()
  const { app, clock, endpoint, settle } = await startApp(place, ENDED_AT - 12 * HOUR_MS)
  await app.store.pauseWorkflow('held', clock.now())
  for (const id of ['evt_1', 'evt_2']) await postDelivery(endpoint, WEBHOOK_SECRET, id)
  await settle()
  for (; clock.now() < ENDED_AT; clock.advance('6h')) await settle()
  await settle()
  await app.store.addSchedule(PLANNED, clock.now())
  await app.store.recordAction({ ...ACTION, at: clock.now() }, 'done')
  await app.stop()
  const store = await openStore(storeOptions(configOf(place)))
  try {
    await leaveAtWork(store)
  } finally {
    await store.close()
  }
}

/** A run that waits for a worker, and one whose worker died. */
async function leaveAtWork(store: Store): Promise<void> {
  await store.startWorker('wrk_1', ENDED_AT)
  for (const id of ['evt_3', 'evt_4']) {
    await store.saveDelivery(incoming(id, { workflows: ['large'], receivedAt: ENDED_AT }))
    if (id === 'evt_3') await store.claimRuns('wrk_1', 1, ENDED_AT)
  }
}

/** Lets the newest version finish every run of such a database; returns them. */
export async function goOn(place: Place, meanwhile = async () => {}): Promise<Run[]> {
  cured.add('failing')
  const { app, clock, endpoint, settle } = await startApp(place, ENDED_AT)
  const { store } = app
  const now = clock.now()
  clock.advance(LEASE_MS)
  await settle()
  const runs = await store.listRuns({ limit: 100 })
  for (const { id } of runs.filter(({ workflow }) => workflow === 'failing')) await store.retryRun(id, now)
  for (const { id } of runs.filter(({ workflow }) => workflow === 'scanning')) {
    for (const hook of await store.listHooks(id)) await store.answerHook(cleanAnswer(hook.id, now))
  }
  for (const { id } of await store.listApprovals({ limit: 9, now })) {
    await store.decideApproval(await wordOf(store, id), now)
  }
  await store.resumeWorkflow('held')
  await store.releaseHeldRuns('held', 100)
  await meanwhile()
  await postDelivery(endpoint, WEBHOOK_SECRET, 'evt_retired', {}, 'file.retired')
  for (const end = now + 72 * HOUR_MS; clock.now() < end; clock.advance('6h')) await settle()
  // The scheduler makes its ticks in order, and may be slower than this clock.
  const lastTick = ENDED_AT + 63 * HOUR_MS
  await settle((runs) => runs.some(({ tickAt }) => tickAt === lastTick))
  const ended: Run[] = []
  for (const run of await store.listRuns({ limit: 100 })) {
    ended.push({ ...run, output: run.workflow === 'large' ? await store.readOutput(run.id, null) : run.output })
  }
  await app.stop()
  return ended
}

function cleanAnswer(hook: string, receivedAt: number): HookAnswer {
  const about = { hook, delivery: newId('dlv', receivedAt), by: null, data: '{"verdict":"clean"}', sameness: 'clean' }
  return { ...about, receivedAt, bodyBytes: 19, facts: { hook } }
}

/** The whole app, with a clock that stands still. `settle`: until no run is due or at work. */
async function startApp(place: Place, now: number) {
  const clock = Object.assign(new ManualClock(now), { uptime: () => performance.now() })
  const notices = createNoticeBus()
  const app = await App.create(configOf(place), { workflows: WORKFLOWS, notices, clock })
  const urls = await app.start()
  const isStill = (runs: readonly Run[]) =>
    runs.every(({ status, dueAt }) => status !== 'pending' && status !== 'running' && (dueAt ?? Infinity) > clock.now())
  const settle = (fits = (_: readonly Run[]) => true) =>
    awaitRuns({ store: app.store, notices }, (runs) => isStill(runs) && fits(runs))
  return { app, clock, endpoint: `${urls.receiver}${new URL(urls.endpoints.service ?? '').pathname}`, settle }
}
