import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AdmissionPlan, Gate } from '../../src/core/runs/admission.ts'
import type { ClaimedRun } from '../../src/core/runs/claim.ts'
import type { Run } from '../../src/core/runs/run.ts'
import type { Store } from '../../src/core/store/store.ts'
import { DATABASES, inDatabase } from '../support/databases.ts'
import { incoming, NOW } from '../support/fixtures.ts'
import { openPlace } from '../support/open-place.ts'

/** The key and priority that the author's code would compute for a run. */
interface Made {
  id: string
  key: string
  priority: number
}

interface Limits {
  perKey: number
  overall: number
  throttle: number
  perMs: number
}

type Command =
  | { kind: 'arrive'; key: string; priority: number }
  | { kind: 'claim'; worker: 0 | 1; count: number }
  | { kind: 'complete' | 'sleep' | 'cancel' | 'crash' | 'release'; pick: number }
  | { kind: 'pass'; ms: number }

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('arrive' as const),
      key: fc.constantFrom('a', 'b', 'c'),
      priority: fc.constantFrom(0, 0, 0, 5),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      worker: fc.constantFrom(0 as const, 1 as const),
      count: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'complete' as const,
        'complete' as const,
        'sleep' as const,
        'cancel' as const,
        'crash' as const,
        'release' as const,
      ),
      pick: fc.nat(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 80 }) }) },
)
const limits: fc.Arbitrary<Limits> = fc.record({
  perKey: fc.integer({ min: 1, max: 3 }),
  overall: fc.integer({ min: 1, max: 4 }),
  throttle: fc.integer({ min: 1, max: 4 }),
  perMs: fc.integer({ min: 10, max: 100 }),
})

/** Two workers on one database without an engine: the test makes every store call itself. */
class Drive {
  readonly #stores: [Store, Store]
  readonly #limits: Limits
  readonly made = new Map<string, Made>()
  /** Runs whose code is running. */
  readonly atWork = new Map<string, ClaimedRun>()
  readonly starts: { id: string; key: string; at: number }[] = []
  /** The check after which each run stood in line, counted from 1. */
  #joined = new Map<string, number>()
  #checks = 0
  #before: readonly Run[] = []
  #workers = ['wrk_0', 'wrk_1']
  now = NOW

  constructor(stores: [Store, Store], given: Limits) {
    this.#stores = stores
    this.#limits = given
  }

  async begin(): Promise<void> {
    for (const worker of this.#workers) await this.#stores[0].startWorker(worker, this.now)
  }

  async do(command: Command): Promise<void> {
    await this.#perform(command)
    const after = await this.#list()
    this.check(this.#before, after)
    this.#before = after
  }

  /** Lets the workers go on until every run has ended. */
  async finish(): Promise<void> {
    for (let round = 0; round < 1_000; round++) {
      for (const id of [...this.atWork.keys()])
        await this.do({ kind: 'complete', pick: [...this.atWork.keys()].indexOf(id) })
      await this.do({ kind: 'claim', worker: round % 2 === 0 ? 0 : 1, count: 3 })
      if (this.#before.every((run) => run.finishedAt !== null)) return
      if (this.atWork.size === 0) await this.do({ kind: 'pass', ms: 10 })
    }
    throw new Error('some runs never ended')
  }

  async #perform(command: Command): Promise<void> {
    switch (command.kind) {
      case 'arrive':
        return this.#arrive(command)
      case 'claim':
        return this.#claim(command.worker, command.count)
      case 'pass':
        this.now += command.ms
        return
      default:
        return this.#end(command.kind, command.pick)
    }
  }

  async #arrive({ key, priority }: { key: string; priority: number }): Promise<void> {
    // Ids of different milliseconds sort in the order in which they were made.
    this.now += 1
    const delivery = incoming(`evt_${this.made.size}`, {
      workflows: ['w'],
      receivedAt: this.now,
      priorities: { w: 1_000 },
    })
    const [id = ''] = (await this.#stores[0].saveDelivery(delivery)).runs
    this.made.set(id, { id, key, priority })
  }

  async #claim(worker: 0 | 1, count: number): Promise<void> {
    const store = this.#stores[worker]
    const claimed = await store.claimRuns(this.#workers[worker] ?? '', count, this.now)
    for (const run of claimed) {
      const id = run.lease.runId
      if (!run.isAdmitted) {
        const { verdict } = await store.admitRun(run.lease, this.#plan(id), this.now)
        if (verdict.kind !== 'admitted') continue
      }
      this.#start(run)
    }
  }

  #start(run: ClaimedRun): void {
    const id = run.lease.runId
    const { key } = this.#get(id)
    if (!this.starts.some((start) => start.id === id)) this.starts.push({ id, key, at: this.now })
    this.atWork.set(id, run)
  }

  async #end(how: 'complete' | 'sleep' | 'cancel' | 'crash' | 'release', pick: number): Promise<void> {
    const [store, other] = this.#stores
    if (how === 'crash') return this.#crash(pick % 2)
    const run = [...this.atWork.values()][pick % Math.max(1, this.atWork.size)]
    if (!run) return
    this.atWork.delete(run.lease.runId)
    if (how === 'complete') {
      const next = await store.completeRun(run.lease, 'null', this.now, pick % 2 === 0)
      if (next) this.#start(next)
      return
    }
    if (how === 'sleep') return other.parkRun(run.lease, { dueAt: this.now + 15, reason: 'sleeps' })
    if (how === 'release') return other.releaseRun(run.lease)
    await store.cancelRun(run.lease.runId, 'by hand', this.now)
  }

  async #crash(index: number): Promise<void> {
    const dead = this.#workers[index] ?? ''
    for (const [id, run] of this.atWork) if (run.lease.worker === dead) this.atWork.delete(id)
    await this.#stores[0].stopWorker(dead)
    this.#workers[index] = `${dead}x`
    await this.#stores[0].startWorker(`${dead}x`, this.now)
  }

  #plan(id: string): AdmissionPlan {
    const { key, priority } = this.#get(id)
    const { perKey, overall, throttle, perMs } = this.#limits
    const gates: Gate[] = [
      { name: 'throttle', key, most: throttle, perMs },
      { name: 'concurrency-1', key, most: perKey, perMs: null },
      { name: 'concurrency-2', key: '', most: overall, perMs: null },
    ]
    const rest = { hasStarted: false, startBy: null, wakeAt: null, mayStart: true, fold: null }
    return { ...rest, priority, onConflict: 'skip', gates }
  }

  #get(id: string): Made {
    const made = this.made.get(id)
    if (!made) throw new Error(`${id} was not made here`)
    return made
  }

  async #list(): Promise<Run[]> {
    return (await this.#stores[1].listRuns({ limit: 1_000 })).reverse()
  }

  /** Checks the invariants, after every command. */
  check(before: readonly Run[], after: readonly Run[]): void {
    this.#checks += 1
    const { perKey, overall, throttle, perMs } = this.#limits
    expect(this.atWork.size).toBeLessThanOrEqual(overall)
    for (const key of ['a', 'b', 'c']) {
      const working = [...this.atWork.keys()].filter((id) => this.#get(id).key === key)
      expect(working.length).toBeLessThanOrEqual(perKey)
      const moments = this.starts.filter((start) => start.key === key).map((start) => start.at)
      for (const at of moments) {
        expect(moments.filter((other) => other > at - perMs && other <= at).length).toBeLessThanOrEqual(throttle)
      }
    }
    const inLine = new Set(after.filter((run) => run.isInLine).map((run) => run.id))
    for (const { id } of before.filter((run) => run.isInLine && !inLine.has(run.id)))
      this.#checkFirst(id, inLine, after)
    for (const id of inLine) if (!this.#joined.has(id)) this.#joined.set(id, this.#checks)
    for (const id of this.#joined.keys()) if (!inLine.has(id)) this.#joined.delete(id)
  }

  /** An admitted run overtakes no older run of its key and priority that stood in line before. */
  #checkFirst(id: string, inLine: ReadonlySet<string>, after: readonly Run[]): void {
    const status = after.find((run) => run.id === id)?.status
    if (status !== 'pending' && status !== 'running') return
    const { key, priority } = this.#get(id)
    const joined = this.#joined.get(id) ?? 0
    const overtaken = [...inLine].filter((other) => {
      const made = this.#get(other)
      return (
        made.key === key && made.priority === priority && other < id && (this.#joined.get(other) ?? Infinity) <= joined
      )
    })
    expect(overtaken).toEqual([])
  }
}

test.each(DATABASES)(
  'on %s, limited runs never exceed a limit, keep the order of each key, and all end, whatever happens',
  async (database) => {
    await fc.assert(
      fc.asyncProperty(limits, fc.array(command, { minLength: 10, maxLength: 60 }), async (given, commands) =>
        inDatabase(database, async (place) => {
          const [store, other] = await Promise.all([openPlace(place), openPlace(place)])
          const drive = new Drive([store, other], given)
          await drive.begin()
          for (const each of commands) await drive.do(each)
          await drive.finish()
          const runs = await store.listRuns({ limit: 1_000 })
          expect(runs.length).toBe(drive.made.size)
          expect(runs.filter((run) => run.status !== 'completed' && run.status !== 'canceled')).toEqual([])
          await Promise.all([store.close(), other.close()])
        }),
      ),
      // A server takes longer.
      { numRuns: database === 'SQLite' ? 30 : 4 },
    )
  },
  600_000,
)
