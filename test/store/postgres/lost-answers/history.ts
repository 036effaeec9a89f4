import { expect } from 'vitest'
import { UpshotError } from '../../../../src/core/errors.ts'
import { newId } from '../../../../src/core/ids.ts'
import type { ClaimedRun } from '../../../../src/core/runs/claim.ts'
import type { Lease } from '../../../../src/core/runs/lease.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { concurrency, planAdmission } from '../../../contract/support/ask-admission.ts'
import { beginWrite } from '../../../contract/support/begin-delete.ts'
import { match, WAIT, WAITING } from '../../../contract/support/waiting-runs.ts'
import { checkpoint, eventBody, incoming, NOW } from '../../../support/fixtures.ts'
import type { Command, Operation } from './commands.ts'
import type { Stores } from './open-stores.ts'

/** The same thing in each store. */
interface Both<T> {
  faulty: T
  sound: T
}
type Side = keyof Both<unknown>

/** One history of calls in both stores, each of which has the same answer. */
export class History {
  readonly #stores: Stores
  readonly #name: string
  readonly #runs: Both<string>[] = []
  readonly #leases: Both<Lease>[] = []
  readonly #deliveries: string[] = []
  readonly #names: Both<Map<string, string>> = { faulty: new Map(), sound: new Map() }
  #calls = 0

  constructor(stores: Stores, name: string) {
    this.#stores = stores
    this.#name = name
  }

  /** Makes one call in both stores. */
  async perform({ operation, pick, faults }: Command): Promise<void> {
    this.#calls += 1
    const { network } = this.#stores
    network.arm(faults)
    await this.#operations[operation](pick)
    if (pick % 3 === 0) await network.deliverLate()
  }

  /** Everything that was written, read by another connection, is what the other store has. */
  async compare(): Promise<void> {
    await this.#stores.network.deliverLate()
    await this.#both(({ store, side }) => this.#read(store, side), 'everything')
  }

  /** Ends all runs, so that the next history has the queue for itself. */
  async end(): Promise<void> {
    const { network, faulty, sound } = this.#stores
    network.arm([])
    for (const run of this.#runs) {
      await faulty.cancelRun(run.faulty, 'over', this.#now)
      await sound.cancelRun(run.sound, 'over', this.#now)
    }
  }

  get #now(): number {
    return NOW + this.#calls
  }

  /** Of a write that ends now. Another end at the same moment is taken for a repetition. */
  get #writing() {
    return { effect: 'write', finishedAt: this.#now } as const
  }

  async #read(store: Store, side: Side): Promise<unknown> {
    const runs = this.#runs.map(async ({ [side]: id }) => ({
      run: await store.findRun(id),
      steps: await store.listSteps(id),
      failures: await store.listStepFailures(id),
      ended: await store.listEndedWaits(id),
      log: await store.listRunLog(id),
      effects: (await store.listEffects({ runId: id, limit: 99 })).map(({ phase, step }) => `${phase} ${step}`).sort(),
    }))
    return {
      runs: await Promise.all(runs),
      deliveries: await Promise.all(this.#deliveries.map((id) => store.findDelivery(id))),
      leases: (await store.listLeases('wrk_1')).sort((one, other) => (one.runId < other.runId ? -1 : 1)),
      unmatched: await store.tallyUnmatched(),
      audit: (await store.listActions({ limit: 999 })).map(({ id: _id, ...row }) => row),
      limit: await store.loadLimit(this.#name),
    }
  }

  /** The answer of both stores, which has to be the same: a value, or the code of a fault. */
  async #both<T>(call: (the: { store: Store; side: Side }) => Promise<T>, what: string): Promise<Both<T> | null> {
    const ask = async (side: Side) => {
      try {
        return { value: await call({ store: this.#stores[side], side }) }
      } catch (error) {
        if (!(error instanceof UpshotError)) throw error
        return { code: error.code }
      }
    }
    const [faulty, sound] = [await ask('faulty'), await ask('sound')]
    this.#learn(faulty, sound)
    expect(this.#normalize(faulty, 'faulty'), what).toEqual(this.#normalize(sound, 'sound'))
    return 'value' in faulty && 'value' in sound ? { faulty: faulty.value, sound: sound.value } : null
  }

  /** Runs that the stores have named themselves, in the order in which they name them. */
  #learn(faulty: unknown, sound: unknown): void {
    const [ours, others] = [listRunIds(faulty), listRunIds(sound)]
    for (const [index, id] of ours.entries()) {
      const other = others[index]
      if (other === undefined || this.#names.faulty.has(id) || this.#names.sound.has(other)) continue
      this.#add({ faulty: id, sound: other })
    }
  }

  #add(run: Both<string>): void {
    const name = `the run ${this.#runs.length}`
    this.#runs.push(run)
    this.#names.faulty.set(run.faulty, name)
    this.#names.sound.set(run.sound, name)
  }

  /** Without the numbers and ids that each store gives by itself. */
  #normalize(answer: unknown, side: Side): unknown {
    const text = JSON.stringify(answer, (key, value) => (OWN.includes(key) ? undefined : value))
    return JSON.parse(text.replaceAll(RUN, (id) => this.#names[side].get(id) ?? id))
  }

  /** A lease that was given some time, even where it has ended since. */
  #lease(pick: number): Both<Lease> | undefined {
    return this.#leases.at(-1 - (pick % Math.max(1, this.#leases.length)))
  }

  /** A write under a lease. */
  async #leased(pick: number, write: (store: Store, lease: Lease) => Promise<unknown>, what: string): Promise<void> {
    const held = this.#lease(pick)
    if (held) await this.#both(({ store, side }) => write(store, held[side]), what)
  }

  async #ofRun(pick: number, write: (store: Store, run: string) => Promise<unknown>, what: string): Promise<void> {
    const run = this.#runs.at(-1 - (pick % Math.max(1, this.#runs.length)))
    if (run) await this.#both(({ store, side }) => write(store, run[side]), what)
  }

  async #deliver(event: string, pick: number): Promise<void> {
    const isMatched = pick % 4 === 3
    const delivery = incoming(`${this.#name}_${event}`, {
      receivedAt: this.#now,
      workflows: isMatched ? [] : ['follow-up'],
      body: eventBody(`${this.#name}_${event}`, isMatched ? 'file.moved' : 'file.created', { pick: pick % 2 }),
      facts: isMatched ? { unmatched: true } : {},
      ...(pick % 3 === 0 ? { arrivalClaim: { worker: 'wrk_1', codeHashes: {} } } : {}),
    })
    this.#deliveries.push(delivery.id)
    const receipts = await this.#both(({ store }) => store.saveDelivery(delivery), 'deliver')
    const [faulty, sound] = [receipts?.faulty.runs[0], receipts?.sound.runs[0]]
    if (receipts?.faulty.claimedWithEvent === undefined || faulty === undefined || sound === undefined) return
    const { era } = receipts.faulty
    this.#leases.push({
      faulty: { runId: faulty, fence: 1, worker: 'wrk_1', ...(era === undefined ? {} : { era }) },
      sound: { runId: sound, fence: 1, worker: 'wrk_1' },
    })
  }

  async #claim(claim: (store: Store) => Promise<ClaimedRun[]>): Promise<void> {
    // A claim that is found again has no order of due moments any more.
    const byAge = (one: ClaimedRun, other: ClaimedRun) => one.createdAt - other.createdAt
    // PostgreSQL gives the journal with a claim, and SQLite when it is listed.
    const withSteps = async ({ store }: { store: Store }) =>
      Promise.all(
        (await claim(store)).sort(byAge).map(async (run) => ({
          ...run,
          steps: run.steps ?? (await store.listSteps(run.lease.runId)),
        })),
      )
    const claimed = await this.#both(withSteps, 'claim')
    for (const [index, { lease }] of (claimed?.faulty ?? []).entries()) {
      const sound = claimed?.sound[index]?.lease
      if (sound) this.#leases.push({ faulty: lease, sound })
    }
  }

  #newRun(): string {
    const run = newId('run', this.#now)
    this.#add({ faulty: run, sound: run })
    return run
  }

  readonly #operations: Record<Operation, (pick: number) => Promise<void>> = {
    deliver: (pick) => this.#deliver(`evt_${this.#calls}`, pick),
    deliverAgain: (pick) => this.#deliver(`evt_${Math.max(1, this.#calls - pick)}`, pick),
    claim: (pick) => this.#claim((store) => store.claimRuns('wrk_1', 1 + (pick % 3), this.#now)),
    claimSuspects: () => this.#claim((store) => store.claimUnadmittedRuns('wrk_1', 2, this.#now)),
    step: (pick) =>
      this.#leased(pick, (store, lease) => store.saveCheckpoint(lease, checkpoint(`s${pick % 3}`)), 'step'),
    once: async (pick) => {
      const started = checkpoint('once', { status: 'started', output: null, finishedAt: null, position: 1 })
      await this.#leased(pick, (store, lease) => store.saveCheckpoint(lease, started), 'started')
      await this.#leased(pick, (store, lease) => store.saveCheckpoint(lease, { ...started, ...DONE }), 'done')
    },
    write: async (pick) => {
      const step = checkpoint(`w${pick % 2}`, { ...this.#writing, position: 4 + (pick % 2) })
      await this.#leased(pick, (store, lease) => beginWrite(store, lease, step), 'write')
      const effect = { input: null }
      await this.#leased(pick, (store, lease) => store.saveCheckpoint(lease, step, undefined, { effect }), 'wrote')
    },
    send: (pick) => {
      const step = checkpoint('sent', { ...this.#writing, kind: 'send', target: 'sent', position: 6 })
      const body = eventBody(`${this.#name}_sent_${this.#calls}`, 'sent', {})
      const event = { id: `${this.#name}_sent_${this.#calls}`, type: 'sent', account: 'default', createdAt: this.#now }
      const send = { ...event, body, workflows: ['follow-up'] }
      return this.#leased(pick, (store, lease) => store.saveCheckpoint(lease, step, undefined, { send }), 'send')
    },
    failedStep: (pick) => {
      const step = checkpoint(`f${this.#calls}`, { status: 'waiting', output: null, error: ERROR, finishedAt: null })
      const failure = { key: step.key, attempt: 1, at: this.#now, error: ERROR }
      return this.#leased(pick, (store, lease) => store.saveCheckpoint(lease, step, failure), 'failed step')
    },
    waits: async (pick) => {
      const wait = { ...WAIT, value: `${this.#name}_${pick % 2}` }
      const step = { ...WAITING, position: 2, dueAt: null }
      await this.#leased(pick, (store, lease) => store.saveCheckpoint(lease, step, undefined, { wait }), 'wait')
      await this.#leased(pick, (store, lease) => store.parkRun(lease, { ...PARK, awaits: ['moved'] }), 'park at it')
    },
    match: async (pick) => {
      const isWaiting = async (store: Store) => (await store.listMatchCursors()).cursors.some(({ isOpen }) => isOpen)
      if (!(await isWaiting(this.#stores.sound))) return
      await this.#both(async ({ store }) => {
        const { newest } = await store.listMatchCursors()
        const seq = Math.max(0, ...newest.values())
        return match(store, { [seq]: `${this.#name}_${pick % 2}` })
      }, 'match')
    },
    invoke: async (pick) => {
      const run = this.#newRun()
      const step = checkpoint('ask', { kind: 'invoke', status: 'waiting', output: null, finishedAt: null, position: 3 })
      const invoke = { run, workflow: 'child', account: 'default', input: 'null', createdAt: this.#now }
      await this.#leased(pick, (store, lease) => store.saveCheckpoint(lease, step, undefined, { invoke }), 'invoke')
      if (pick % 2 === 0)
        await this.#leased(pick, (store, lease) => store.parkRun(lease, { ...PARK, awaits: ['ask'] }), 'park at it')
    },
    admit: (pick) => {
      const gate = { ...concurrency, key: `${this.#name}_${pick % 2}` }
      const plan = planAdmission({ gates: [gate], mayStart: pick % 3 > 0 })
      return this.#leased(pick, (store, lease) => store.admitRun(lease, plan, this.#now), 'admit')
    },
    complete: async (pick) => {
      const held = this.#lease(pick)
      // A second end under a lease is taken for the first one, whose answer was lost.
      const run = held && (await this.#stores.sound.findRun(held.sound.runId))
      if (held === undefined || run?.status === 'completed') return
      const end = (store: Store, side: Side) => store.completeRun(held[side], '"x"', this.#now, pick % 2 === 0)
      const next = await this.#both(({ store, side }) => end(store, side), 'complete')
      if (next?.faulty && next.sound) this.#leases.push({ faulty: next.faulty.lease, sound: next.sound.lease })
    },
    fail: (pick) =>
      this.#leased(pick, (store, lease) => store.failRun(lease, ERROR, this.#now, pick % 2 === 0), 'fail'),
    skip: (pick) => this.#leased(pick, (store, lease) => store.skipRun(lease, 'no use', this.#now), 'skip'),
    park: (pick) => {
      const dueAt = pick % 2 === 0 ? this.#now + pick : null
      return this.#leased(pick, (store, lease) => store.parkRun(lease, { dueAt, reason: 'waits' }), 'park')
    },
    postpone: (pick) => {
      const retry = { dueAt: this.#now + pick, error: ERROR }
      return this.#leased(pick, (store, lease) => store.postponeRun(lease, retry), 'postpone')
    },
    release: (pick) => this.#leased(pick, (store, lease) => store.releaseRun(lease), 'release'),
    continue: (pick) => {
      const successor = { run: this.#newRun(), account: 'default', input: '1', received: {} }
      return this.#leased(pick, (store, lease) => store.continueRun(lease, successor, this.#now), 'continue')
    },
    cancel: (pick) => this.#ofRun(pick, (store, run) => store.cancelRun(run, 'by hand', this.#now), 'cancel'),
    retry: (pick) => this.#ofRun(pick, (store, run) => store.retryRun(run, this.#now), 'retry'),
    resume: (pick) =>
      this.#ofRun(pick, (store, run) => store.resumeRun(run, { fromScratch: pick % 2 === 0 }), 'resume'),
    start: async () => {
      const start = { run: this.#newRun(), workflow: 'child', account: 'default', input: '2', createdAt: this.#now }
      await this.#both(({ store }) => store.startRun(start), 'start')
    },
    operate: (pick) => {
      const action = { action: 'run.cancel', target: null, parameters: {}, at: this.#now }
      const entry = { actor: this.#name, role: 'admin', from: 'here', reason: null, ...action }
      return this.#ofRun(
        pick,
        (store, run) => store.operate(entry, { write: 'cancelRun', args: [run, 'by a person', this.#now] }),
        'operate',
      )
    },
    limit: async (pick) => {
      await this.#both(({ store }) => store.saveLimit(this.#name, `"${this.#calls}"`, pick % 3), 'limit')
    },
    tick: async (pick) => {
      const tick = { scheduledFor: this.#now - (pick % 2), missed: 0 }
      await this.#both(({ store }) => store.recordTick(`nightly_${this.#name}`, tick, this.#now), 'tick')
    },
    pause: async (pick) => {
      if (pick % 2 === 0) await this.#both(({ store }) => store.pauseWorkflow('child', this.#now), 'pause')
      await this.#both(({ store }) => store.holdRuns('child', 2), 'hold')
      await this.#both(({ store }) => store.resumeWorkflow('child'), 'go on')
      await this.#both(({ store }) => store.releaseHeldRuns('child', 99), 'release held')
    },
    log: (pick) =>
      this.#ofRun(
        pick,
        (store, run) => store.saveRunLog([{ runId: run, at: this.#now, level: 'info', message: 'x', facts: null }]),
        'log',
      ),
  }
}

const ERROR = { name: 'Error', message: 'no luck' }
const DONE = { status: 'completed', output: '1', finishedAt: NOW } as const
const PARK = { dueAt: null, reason: 'waits' }
const RUN = /run_[0-9a-z]+/gi
/** Names of what each store numbers by itself. */
const OWN = ['seq', 'stream', 'era', 'claimedWithEvent']

function listRunIds(answer: unknown): string[] {
  return [...new Set(JSON.stringify(answer).match(RUN) ?? [])]
}
