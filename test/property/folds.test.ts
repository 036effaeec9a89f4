import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AdmissionPlan, Fold } from '../../src/core/runs/admission.ts'
import type { ClaimedRun } from '../../src/core/runs/claim.ts'
import type { Store } from '../../src/core/store/store.ts'
import { DATABASES, inDatabase } from '../support/databases.ts'
import { incoming, NOW } from '../support/fixtures.ts'
import { openPlace } from '../support/open-place.ts'

type FoldOf = (key: string) => Fold

const fold: fc.Arbitrary<FoldOf> = fc.oneof(
  fc.integer({ min: 1, max: 4 }).map(
    (size): FoldOf =>
      (key) => ({ kind: 'batch', key, size, waitMs: 30 }),
  ),
  fc.constantFrom(50, 1_000).map(
    (maxMs): FoldOf =>
      (key) => ({ kind: 'debounce', key, waitMs: 20, maxMs }),
  ),
)
const command = fc.oneof(
  fc.record({ kind: fc.constant('arrive' as const), key: fc.constantFrom('a', 'b') }),
  fc.record({ kind: fc.constant('claim' as const), count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('admit' as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant('complete' as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant('crash' as const) }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 40 }) }),
)

/** Claims and admissions are apart, so that a run may be absorbed while a worker has claimed it. */
class Drive {
  readonly #store: Store
  readonly #other: Store
  readonly #fold: FoldOf
  readonly keys = new Map<string, string>()
  #claimed: ClaimedRun[] = []
  #atWork: ClaimedRun[] = []
  #worker = 'wrk_0'
  now = NOW

  constructor(store: Store, other: Store, fold: FoldOf) {
    this.#store = store
    this.#other = other
    this.#fold = fold
  }

  async do(each: typeof command extends fc.Arbitrary<infer One> ? One : never): Promise<void> {
    switch (each.kind) {
      case 'arrive': {
        const delivery = incoming(`evt_${this.keys.size}`, { workflows: ['w'], receivedAt: this.now })
        const [id = ''] = (await this.#store.saveDelivery(delivery)).runs
        this.keys.set(id, each.key)
        return
      }
      case 'claim':
        this.#claimed.push(...(await this.#store.claimRuns(this.#worker, each.count, this.now)))
        return
      case 'admit':
        return this.#admit(this.#claimed.splice(each.pick % Math.max(1, this.#claimed.length), 1)[0])
      case 'complete': {
        const [run] = this.#atWork.splice(each.pick % Math.max(1, this.#atWork.length), 1)
        if (run) await this.#store.completeRun(run.lease, 'null', this.now)
        return
      }
      case 'crash':
        this.#claimed = []
        this.#atWork = []
        await this.#other.stopWorker(this.#worker)
        this.#worker = `${this.#worker}x`
        return
      case 'pass':
        this.now += each.ms
        return
      default:
        return each satisfies never
    }
  }

  async finish(): Promise<void> {
    for (let round = 0; round < 500; round++) {
      await this.do({ kind: 'claim', count: 5 })
      while (this.#claimed.length > 0) await this.do({ kind: 'admit', pick: 0 })
      while (this.#atWork.length > 0) await this.do({ kind: 'complete', pick: 0 })
      const runs = await this.#store.listRuns({ limit: 1_000 })
      if (runs.every((run) => run.finishedAt !== null)) return
      await this.do({ kind: 'pass', ms: 10 })
    }
    throw new Error('some runs never ended')
  }

  async #admit(run: ClaimedRun | undefined): Promise<void> {
    if (!run) return
    if (run.isAdmitted) return void this.#atWork.push(run)
    const plan: AdmissionPlan = {
      priority: 0,
      hasStarted: false,
      startBy: null,
      wakeAt: null,
      mayStart: true,
      onConflict: 'skip',
      fold: this.#fold(this.keys.get(run.lease.runId) ?? ''),
      gates: [{ name: 'concurrency-1', key: '', most: 2, perMs: null }],
    }
    const answer = await this.#other.admitRun(run.lease, plan, this.now)
    if (answer.verdict.kind === 'admitted') this.#atWork.push(run)
  }
}

test.each(DATABASES)(
  'on %s, every event is in exactly one run that completes, however runs are folded',
  async (database) => {
    await fc.assert(
      fc.asyncProperty(fold, fc.array(command, { minLength: 10, maxLength: 60 }), async (foldOf, commands) =>
        inDatabase(database, async (place) => {
          const [store, other] = await Promise.all([openPlace(place), openPlace(place)])
          const drive = new Drive(store, other, foldOf)
          for (const each of commands) await drive.do(each)
          await drive.finish()

          const runs = await store.listRuns({ limit: 1_000 })
          const completed = runs.filter((run) => run.status === 'completed')
          const handled: string[] = []
          for (const run of completed) {
            const events = (await store.listRunEvents(run.id)).map((event) => event.id)
            expect(run.folded).toBe(events.length - 1)
            const plan = foldOf('')
            if (plan.kind === 'batch') expect(events.length).toBeLessThanOrEqual(plan.size)
            else expect(events.at(-1)).toBe(run.eventId)
            handled.push(...events)
          }
          expect(handled.toSorted()).toEqual(runs.map((run) => run.eventId).toSorted())
          for (const run of runs) expect(run.status).toBe(run.foldedInto === null ? 'completed' : 'skipped')
          await Promise.all([store.close(), other.close()])
        }),
      ),
      // A server takes longer.
      { numRuns: database === 'SQLite' ? 30 : 6 },
    )
  },
  600_000,
)
