import { expect, test } from 'vitest'
import { coverageReport } from '../../../config/coverage-report.ts'
import type { AnyWorkflow } from '../../../src/author/workflow.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { NotFoundError } from '../../../src/files/errors.ts'
import { CrashPoint } from '../../../src/testing/engine/crash-point.ts'
import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { Testbed } from '../../../src/testing/testbed.ts'
import alertFailedTransfer from '../../../workflows/alert-failed-transfer.workflow.ts'
import cleanUp from '../../../workflows/clean-up.workflow.ts'
import intake from '../../../workflows/intake-new-file.workflow.ts'
import nightlyInventory from '../../../workflows/nightly-inventory.workflow.ts'
import verifyTransfer from '../../../workflows/verify-transfer.workflow.ts'
import weeklyCoverage from '../../../workflows/weekly-coverage.workflow.ts'
import { deliver, filesOf } from '../../engine/support/files-in-runs.ts'
import { NOW } from '../../support/fixtures.ts'
import { override, useOutput } from '../../support/sample-output.ts'
import { createTestEngine } from '../../support/test-engine.ts'
import { type ComparedRun, compareAll, settle } from './support/recorded-runs.ts'
import { writeTests } from './support/written-tests.ts'

const out = useOutput()

const SAMPLES: AnyWorkflow[] = [intake, verifyTransfer, alertFailedTransfer, cleanUp] as never
const TIMED: AnyWorkflow[] = [nightlyInventory, weeklyCoverage] as never
const MOMENT = '2026-01-01T00:00:00.000Z'
const DAY = 86_400_000
/** Secrets by the name of their property, and by that of a variable. */
const CANARY = 'canary-in-service'
const CANARY_OF_ENVIRONMENT = 'canary-in-environment'
/** With those of the clock a thousand runs, which take three seconds on idle cores. */
const RUNS_EACH = 240
const TICKS_EACH = 20

/** Runs of which a backtest says anything else than that they are the same. */
const listDiffering = (found: readonly ComparedRun[]) =>
  found.filter(({ verdict, isSteady }) => verdict.kind !== 'same' || !isSteady)

/** In place of "upshot coverage". */
const COVERAGE = ['/bin/sh', '-c', `printf '{"data":{"storages":[],"findings":[],"unknowable":[]}}'`]

test('a thousand random runs of the samples, previewed with the same code, differ in nothing', async () => {
  override(coverageReport, { command: COVERAGE })
  const random = seededRandom(7)
  const pick = <T>(...all: T[]): T => all[Math.floor(random() * all.length)] as T
  const engine = createTestEngine()
  const worker = await engine.start([...SAMPLES, ...TIMED], { filesFor: randomClient(pick), slots: 50 })
  const names = SAMPLES.map(({ id }) => id)
  for (let n = 0; n < RUNS_EACH; n++) {
    for (const workflow of names)
      await deliver(engine, `evt_${workflow}_${n}`, ...eventFor(workflow, n, pick), workflow)
  }
  for (let n = 0; n < TICKS_EACH; n++) {
    for (const { id } of TIMED) await engine.store.recordTick(id, { scheduledFor: NOW + n * 7 * DAY, missed: 0 }, NOW)
  }
  await settle(engine, () => worker.wake())
  const ends = new Set<string>()
  let tests = 0
  for (const workflow of [...SAMPLES, ...TIMED]) {
    const found = await compareAll(engine.store, workflow)
    expect(listDiffering(found), workflow.id).toEqual([])
    expect(found, workflow.id).toHaveLength(TIMED.includes(workflow) ? TICKS_EACH : RUNS_EACH)
    for (const { end } of found) ends.add(end)
    const { completed, passing, text } = await writeTests(engine.store, workflow)
    expect([passing, text.includes('canary')], workflow.id).toEqual([completed, false])
    tests += passing
  }
  expect(ends).toEqual(new Set(['completed', 'failed', 'skipped']))
  expect(tests).toBeGreaterThan(RUNS_EACH)
})

/** One run of each sample. */
const SCENES: Record<string, (t: Testbed) => Promise<unknown>> = {
  'intake-new-file': async (t) => {
    await t.storage('storage_a').put('/inbox/setup.exe', 'hello')
    await t.send(await t.emitted('file.created'))
  },
  'verify-transfer': async (t) => {
    await t.storage('storage_a').put('/a.txt', 'hello')
    await t.storage('storage_b').put('/a.txt', 'hello')
    const end = (service: string) => ({ service, path: '/a.txt', fileId: null })
    const ends = { source: end('storage_a'), destination: end('storage_b') }
    const times = { startedAt: MOMENT, finishedAt: MOMENT }
    await t.send('transfer.completed', { transfer: { id: 'tr_1', ...ends, bytesTotal: 5, ...times } })
  },
  'alert-failed-transfer': async (t) => {
    const end = (service: string) => ({ service, path: '/a.txt', fileId: null })
    const ends = { source: end('storage_a'), destination: end('storage_b') }
    await t.send('transfer.failed', {
      transfer: { id: 'tr_1', ...ends, bytesTotal: 5, startedAt: null, finishedAt: MOMENT },
    })
  },
  'clean-up': async (t) => {
    for (const name of ['one', 'two']) await t.storage('storage_a').put(`/exports/${name}.csv`, name)
    await t.advance('40d')
    await t.send('cleanup.asked', { path: '/exports' })
  },
  'nightly-inventory': async (t) => {
    await t.storage('storage_a').put('/a.txt', 'hello')
    await t.tick('nightly-inventory', '2026-06-08T02:00:00.000Z')
  },
  'weekly-coverage': (t) => t.tick('weekly-coverage', '2026-06-08T07:00:00.000Z'),
}

test.each([...SAMPLES, ...TIMED].map((workflow) => [workflow.id, workflow] as const))(
  'a run of %s, previewed again with the same code, differs in nothing and gives a test wherever it has crashed',
  async (id, workflow) => {
    override(coverageReport, { command: COVERAGE })
    const calm = new CrashPoint(0, 'kept')
    await runScene(workflow, calm)
    expect(calm.writes.length, id).toBeGreaterThan(1)
    for (let at = 1; at <= calm.writes.length; at++) {
      await runScene(workflow, new CrashPoint(at, at % 2 === 0 ? 'lost' : 'kept'))
    }
    for (let at = 1; at <= calm.middles.length; at++) await runScene(workflow, new CrashPoint(at, 'cut'))
  },
)

async function runScene(workflow: AnyWorkflow, crash: CrashPoint): Promise<void> {
  out.renew()
  let store: Store | undefined
  await using t = await Testbed.open({ workflows: [workflow] }, { crash, onOpen: (opened) => (store = opened) })
  await SCENES[workflow.id]?.(t)
  await t.advance('1d')
  const found = store === undefined ? [] : await compareAll(store, workflow)
  expect(found.length, `${crash.killedAt}`).toBeGreaterThan(0)
  expect(listDiffering(found), `${crash.killedAt}`).toEqual([])
  if (store === undefined) return
  const { completed, passing } = await writeTests(store, workflow)
  expect(completed, `${crash.killedAt}`).toBeGreaterThan(0)
  expect(passing, `${crash.killedAt}`).toBe(completed)
}

type Pick = <T>(...all: T[]) => T

/** The data of a random event that starts a sample. */
function eventFor(workflow: string, n: number, pick: Pick): [type: string, data: object] {
  const path = `/${pick('inbox', 'other')}/f-${n}${pick('.txt', '.exe', '.tmp')}`
  const size = pick(0, 5, 7)
  const file = { id: `fil_${n}`, name: path.split('/')[2], path, size, modifiedAt: MOMENT, ownerToken: CANARY }
  if (workflow === 'intake-new-file') return ['file.created', { service: 'storage_a', file, signature: CANARY }]
  if (workflow === 'clean-up') return ['cleanup.asked', { path: `/exports/${n}`, olderThanDays: pick(1, 30) }]
  const end = (service: string) => ({ service, path, fileId: pick(`fil_${n}`, null) })
  const times = { startedAt: pick(MOMENT, null), finishedAt: MOMENT }
  const transfer = {
    id: `tr_${n}`,
    source: end('storage_a'),
    destination: end('storage_b'),
    bytesTotal: size,
    ...times,
  }
  return [workflow === 'verify-transfer' ? 'transfer.completed' : 'transfer.failed', { transfer }]
}

/** A service whose files are there or not, changed or not, and which fails at times. */
function randomClient(pick: Pick) {
  const entry = (id: string, path: string) => ({
    service: 'storage_a',
    id,
    name: path.split('/').at(-1),
    type: 'file',
    mimeType: null,
    createdAt: null,
    size: pick(0, 5, 7),
    path,
    modifiedAt: pick(MOMENT, '2025-01-01T00:00:00.000Z'),
    accessToken: CANARY,
    thumbnailUrl: `https://files.example/?sig=${CANARY_OF_ENVIRONMENT}`,
  })
  const fail = () => {
    if (pick(...Array(12).fill(false), true)) throw new NotFoundError('There is no such file.', {} as never)
  }
  return filesOf({
    find: async ({ id, path = '/inbox/x' }: { id?: string; path?: string }) => {
      fail()
      return pick(true, true, false) ? entry(id ?? 'fil_x', path) : null
    },
    get: async ({ id }: { id: string }) => entry(id, '/inbox/x'),
    hash: async () => {
      fail()
      return pick(null, { sha256: pick('aa', 'bb'), bytes: 5, proof: 'size' })
    },
    list: async ({ path }: { path: string }) => ({
      items: Array.from({ length: pick(0, 3, 30) }, (_, n) => entry(`${path}-${n}`, `${path}/${n}`)),
      cursor: null,
      total: null,
    }),
    delete: async () => ({ outcome: pick('deleted', 'changed', 'not_found'), proof: 'reply' }),
  })
}
