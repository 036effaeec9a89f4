import { setImmediate as turn } from 'node:timers/promises'
import { declaredKeys } from '../author/event-keys.ts'
import { describeError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import type { DeliveryReceipt, IncomingDelivery } from '../core/incoming/delivery.ts'
import type { ClaimedRun } from '../core/runs/claim.ts'
import { HEARTBEAT_MS, LEASE_MS } from '../core/runs/lease.ts'
import type { DeliveryIntake } from '../core/store/deliveries.ts'
import { ActivePasses, type RunningPass } from './claim/active-passes.ts'
import { ClaimOnArrival } from './claim/claim-on-arrival.ts'
import { parkBrokenPass } from './claim/park-broken-pass.ts'
import { QueueEstimate } from './claim/queue-estimate.ts'
import { EventMatcher } from './event-matcher.ts'
import { type Claim, runPass } from './execute/run-pass.ts'
import { asLost, describeOutcome, settleRun } from './execute/settle-run.ts'
import type { WorkerParts } from './worker-parts.ts'

/** The most that a lost wake-up can delay a run. */
const POLL_MS = 1_000
/** Maximum number of admission passes at a time while no slot is free. */
const MAX_ADMISSION_PASSES = 20

/** Claims runs while it has free slots and executes one pass of each. */
export class Worker implements DeliveryIntake {
  readonly id: string
  readonly #parts: WorkerParts
  readonly #matcher: EventMatcher
  readonly #passes: ActivePasses
  readonly #arrivals: ClaimOnArrival
  readonly #queue = new QueueEstimate()
  readonly #stopping = new AbortController()
  #state: 'new' | 'started' | 'stopping' = 'new'
  #stopped: Promise<void> | null = null
  #claiming: Promise<void> | null = null
  #isWoken = false
  #lastDeliveryAt = Number.NEGATIVE_INFINITY
  #cancelPoll = () => {}
  #cancelBeat = () => {}

  constructor(parts: WorkerParts) {
    this.#parts = parts
    this.id = newId('wrk', parts.clock.now())
    this.#passes = new ActivePasses({
      execute: (run, claim, pass) =>
        this.#executePass(run, claim, pass).catch((error: unknown) =>
          parkBrokenPass(parts, run, error, this.#stopping.signal),
        ),
      ended: () => this.wake(),
    })
    this.#arrivals = new ClaimOnArrival({
      ...parts,
      worker: this.id,
      begin: (run) => {
        // A stopping worker releases this run: `stopWorker` is queued behind the delivery.
        if (this.#state === 'started') this.#passes.begin(run, { hasSlot: true, isQueueEmpty: true })
      },
    })
    this.#matcher = new EventMatcher({
      ...parts,
      keys: declaredKeys,
      woken: () => this.wake(),
      canceled: (runId) => this.#passes.endPass(runId),
    })
  }

  /** Ids of the runs at work now. */
  get atWork(): string[] {
    return this.#passes.runIds
  }

  /** Recovers the runs of dead workers and begins to claim. */
  async start(): Promise<void> {
    if (this.#state !== 'new') return
    this.#state = 'started'
    await this.#parts.store.startWorker(this.id, this.#parts.clock.now())
    await this.#recover()
    this.#scheduleBeat()
    this.wake()
  }

  /** A hint that there may be something to claim. */
  wake(): void {
    if (this.#state !== 'started') return
    this.#isWoken = true
    this.#matcher.wake()
    this.#claiming ??= this.#claimWhileWoken().finally(() => {
      this.#claiming = null
      if (this.#isWoken) this.wake()
    })
  }

  /**
   * Saves a delivery. With free slots and an empty queue, the same commit claims its runs for this
   * worker. See decision 13.
   */
  saveDelivery(delivery: IncomingDelivery): Promise<DeliveryReceipt> {
    const count = delivery.workflows.length
    const mayClaim = count > 0 && this.#state === 'started' && this.#freeSlots >= count && this.#queue.isCleared
    if (!mayClaim) this.#queue.add(count)
    this.#lastDeliveryAt = this.#parts.clock.now()
    const saved = mayClaim ? this.#arrivals.save(delivery) : this.#parts.store.saveDelivery(delivery)
    saved.then(
      ({ claimedWithEvent, runs }) => {
        // A run that was not claimed waits in the queue; its reserved slot is free again.
        if (mayClaim && claimedWithEvent === undefined) this.#queue.add(runs.length)
        if (count > 0 && claimedWithEvent === undefined) this.wake()
        else this.matchEvents()
      },
      () => this.wake(),
    )
    return saved
  }

  get #freeSlots(): number {
    return this.#parts.slots - this.#passes.usedSlots - this.#queue.asked - this.#arrivals.expected
  }

  /** A hint that there are new events, whether or not they start a run. */
  matchEvents(): void {
    if (this.#state === 'started') this.#matcher.wake()
  }

  /** Ends the passes of a run that a person canceled and of the runs that it invoked. */
  endPass(runId: string): void {
    this.#passes.endPass(runId)
    this.checkLeases().catch((error: unknown) => this.#report(`the runs that ${runId} invoked`, error))
  }

  /** Ends the passes whose runs were canceled or taken over, by this process or another. */
  async checkLeases(): Promise<void> {
    if (this.#state === 'started') await this.#passes.endLostPasses(() => this.#parts.store.listLeases(this.id))
  }

  /** Lets the steps at work finish and releases every run. Nothing is written after it resolves. */
  stop(): Promise<void> {
    this.#stopped ??= this.#drain()
    return this.#stopped
  }

  async #drain(): Promise<void> {
    const wasStarted = this.#state === 'started'
    this.#state = 'stopping'
    this.#stopping.abort()
    this.#cancelPoll()
    this.#cancelBeat()
    await this.#claiming
    await this.#matcher.stop()
    await this.#passes.drain(this.#parts.clock, this.#parts.drainMs)
    if (wasStarted) await this.#parts.store.stopWorker(this.id)
  }

  async #claimWhileWoken(): Promise<void> {
    try {
      while (this.#isWoken && this.#state === 'started') {
        this.#isWoken = false
        const free = this.#freeSlots
        if (free > 0) await this.#claim(free)
        else await this.#admitAhead()
      }
    } catch (error) {
      this.#report('claiming runs', error)
    }
    await this.#schedulePoll()
  }

  async #claim(free: number): Promise<void> {
    const { store, clock } = this.#parts
    const now = clock.now()
    const asked = this.#queue.ask(free, now - this.#lastDeliveryAt < POLL_MS)
    try {
      const claimed = await store.claimRuns(this.id, asked, now)
      await this.#begin(claimed, { asked, hasSlot: true })
      this.#queue.receive(claimed.length)
    } finally {
      this.#queue.release()
    }
  }

  /** Without a free slot, new runs are still put in line or folded into others. */
  async #admitAhead(): Promise<void> {
    const { store, clock, admitsAhead = () => false } = this.#parts
    const asked = admitsAhead() ? MAX_ADMISSION_PASSES - this.#passes.admissionPasses : 0
    if (asked > 0) {
      await this.#begin(await store.claimUnadmittedRuns(this.id, asked, clock.now()), { asked, hasSlot: false })
    }
  }

  async #begin(claimed: readonly ClaimedRun[], { asked, hasSlot }: { asked: number; hasSlot: boolean }): Promise<void> {
    // A claim may be answered together with the deliveries that caused the runs: those are
    // acknowledged first.
    if (claimed.length > 0) await turn()
    const isQueueEmpty = claimed.length < asked
    for (const run of claimed) this.#passes.begin(run, { hasSlot, isQueueEmpty })
    if (!isQueueEmpty) this.#isWoken = true
  }

  async #executePass(run: ClaimedRun, claim: Claim, pass: RunningPass): Promise<void> {
    const { store, clock, publish, findWorkflow } = this.#parts
    const workflow = findWorkflow(run.workflow)
    const cancelOther = (other: string, reason: string) => this.#cancelOther(other, run.workflow, reason)
    const request = { run, workflow, claim, cancelOther, matcher: this.#matcher, ...pass }
    const { outcome, journal } = await runPass(this.#parts, request)
    pass.isSettling = true
    const settled = await settleRun(store, run, outcome, { now: clock.now(), workflow }).then(() => outcome, asLost)
    // `barrier` rejects if one of the last checkpoints failed on its own.
    if (settled.kind !== 'lost') await journal?.barrier()
    // Before the notice: a listener may deliver the next run at once.
    pass.releaseSlot()
    publish(describeOutcome(run, settled, { now: clock.now(), steps: journal?.finished ?? 0 }))
  }

  #cancelOther(other: string, workflow: string, reason: string): void {
    this.#passes.endPass(other)
    this.#parts.publish({ kind: 'run.canceled', run: other, workflow, root: null, parentRun: null, ms: null, reason })
  }

  async #schedulePoll(): Promise<void> {
    this.#cancelPoll()
    if (this.#state !== 'started') return
    const { clock, store, slots, pollMs = POLL_MS } = this.#parts
    // Without a free slot a due run cannot be claimed yet; the run that frees one wakes the worker.
    const hasSlot = this.#passes.usedSlots < slots
    const dueAt = hasSlot ? await store.nextDueAt().catch(() => null) : null
    if (this.#state !== 'started') return
    const pollAt = clock.now() + pollMs
    this.#cancelPoll = clock.at(Math.min(dueAt ?? pollAt, pollAt), () => this.wake())
  }

  #scheduleBeat(): void {
    const { clock, store, beatMs = HEARTBEAT_MS } = this.#parts
    this.#cancelBeat = clock.at(clock.now() + beatMs, () => {
      store
        .beatWorker(this.id, clock.now())
        .then(() => this.#recover())
        .then(() => this.checkLeases())
        .catch((error: unknown) => this.#report('the heartbeat', error))
        .finally(() => this.#state === 'started' && this.#scheduleBeat())
    })
  }

  async #recover(): Promise<void> {
    const { store, clock, publish } = this.#parts
    const count = await store.recoverRuns(clock.now(), LEASE_MS)
    if (count === 0) return
    publish({ kind: 'runs.recovered', count })
    this.wake()
  }

  #report(where: string, error: unknown): void {
    this.#parts.publish({ kind: 'fault', where, error: describeError(error) })
  }
}
