import { expect, test } from 'vitest'
import { readCases } from '../../../src/app/backtest/read-cases.ts'
import { playJob } from '../../../src/app/play/play-job.ts'
import type { AnyWorkflow } from '../../../src/author/workflow.ts'
import { DEFAULT_POLICY } from '../../../src/core/safety/guard.ts'
import { compareSides } from '../../../src/engine/play/compare/compare-sides.ts'
import { sideOfPlay } from '../../../src/engine/play/compare/side-of-play.ts'
import { NotFoundError } from '../../../src/files/errors.ts'
import { seededRandom } from '../../../src/testing/seeded-random.ts'
import alertFailedTransfer from '../../../workflows/alert-failed-transfer.workflow.ts'
import cleanUp from '../../../workflows/clean-up.workflow.ts'
import intake from '../../../workflows/intake-new-file.workflow.ts'
import verifyTransfer from '../../../workflows/verify-transfer.workflow.ts'
import { deliver, filesOf } from '../../engine/support/files-in-runs.ts'
import { awaitFound } from '../../support/await-runs.ts'
import { useOutput } from '../../support/sample-output.ts'
import { createTestEngine } from '../../support/test-engine.ts'

useOutput()

const SAMPLES: AnyWorkflow[] = [intake, verifyTransfer, alertFailedTransfer, cleanUp] as never
const MOMENT = '2026-01-01T00:00:00.000Z'
/** A thousand runs of all take ten seconds on a busy machine. */
const RUNS_EACH = 60

test('random runs of the samples, played again with the same code, differ in nothing', async () => {
  const random = seededRandom(7)
  const pick = <T>(...all: T[]): T => all[Math.floor(random() * all.length)] as T
  const engine = createTestEngine()
  const worker = await engine.start(SAMPLES, { filesFor: randomClient(pick), slots: 50 })
  const names = SAMPLES.map(({ id }) => id)
  for (let n = 0; n < RUNS_EACH; n++) {
    for (const workflow of names)
      await deliver(engine, `evt_${workflow}_${n}`, ...eventFor(workflow, n, pick), workflow)
  }
  await settle(engine, () => worker.wake())
  const found = await Promise.all(SAMPLES.map((workflow) => compareAll(engine.store, workflow)))
  expect(found.map(({ differing }) => differing)).toEqual(SAMPLES.map(() => []))
  const compared = found.reduce((sum, each) => sum + each.compared, 0)
  expect(compared).toBeGreaterThan(RUNS_EACH * 3)
  expect(new Set(found.flatMap(({ ends }) => [...ends]))).toEqual(new Set(['completed', 'failed', 'skipped']))
})

type Engine = ReturnType<typeof createTestEngine>
type Pick = <T>(...all: T[]) => T

/** Lets every run go as far as it comes without a person. */
async function settle({ store, clock, notices }: Engine, wake: () => void): Promise<void> {
  for (let round = 0; round < 200; round++) {
    wake()
    await awaitFound(notices, async () => {
      const { pending, running } = await store.countOpenRuns(clock.now())
      return pending + running === 0 ? true : null
    })
    const due = await store.nextDueAt()
    if (due === null) return
    clock.advance(Math.max(due - clock.now(), 1_000))
  }
}

/** The data of a random event that starts a sample. */
function eventFor(workflow: string, n: number, pick: Pick): [type: string, data: object] {
  const path = `/${pick('inbox', 'other')}/f-${n}${pick('.txt', '.exe', '.tmp')}`
  const size = pick(0, 5, 7)
  const file = { id: `fil_${n}`, name: path.split('/')[2], path, size, modifiedAt: MOMENT }
  if (workflow === 'intake-new-file') return ['file.created', { service: 'storage_a', file }]
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
    ...{ service: 'storage_a', id, name: path.split('/').at(-1), type: 'file', mimeType: null, createdAt: null },
    ...{ size: pick(0, 5, 7), path, modifiedAt: pick(MOMENT, '2025-01-01T00:00:00.000Z') },
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

async function compareAll(store: Engine['store'], workflow: AnyWorkflow) {
  const world = {
    parts: { reads: store, guard: DEFAULT_POLICY },
    readFiles: () => Promise.reject(new Error('no read is made')),
    rules: { readsLive: false, rerun: [], fixtures: {} },
  }
  const found = { compared: 0, differing: [] as unknown[], ends: new Set<string>() }
  for await (const { cases } of readCases(store, { workflow: workflow.id, since: 0 }, { withOutputs: true })) {
    for (const { run, job, side, isCut } of cases) {
      const played = await playJob(world, workflow, { ...job, isTwice: true })
      const verdict = compareSides(side, sideOfPlay(played), { withOutputs: true, isCut })
      if (verdict.kind !== 'same' || !played.isSteady) found.differing.push({ run, verdict })
      found.compared += 1
      found.ends.add(side.end.kind)
    }
  }
  return found
}
