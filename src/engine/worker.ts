import { setImmediate as turn } from 'node:timers/promises'
import { declaredKeys } from '../author/event-keys.ts'
import { describeError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import type { DeliveryReceipt, IncomingDelivery } from '../core/incoming/delivery.ts'
import { type ClaimedRun, listClaimedOnArrival } from '../core/runs/claim.ts'
import { HEARTBEAT_MS } from '../core/runs/lease.ts'
import type { DeliveryIntake } from '../core/store/store.ts'
import { ActivePasses, type RunningPass } from './claim/active-passes.ts'
import { giveBackDropped, markFailover, parkBrokenPass } from './claim/broken-pass.ts'
import { type Arrivals, ClaimOnArrival, claimFor } from './claim/claim-on-arrival.ts'
import { MissingCode } from './claim/missing-code.ts'
import { Recovery } from './claim/recovery.ts'
import { reportOwnWork } from './claim/report-own-work.ts'
import { WorkerCounts } from './claim/worker-counts.ts'
import { EventMatcher } from './event-matcher.ts'
import { type Claim, runPass } from './execute/run-pass.ts'
import { describeOutcome, settleRun } from './execute/settle-run.ts'
import { watchEffects } from './pass/outside/watch-effects.ts'
import { watchOwnWork } from './pass/outside/watch-own-work.ts'
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
  readonly #recovery: Recovery
  readonly #arrivals: ClaimOnArrival
  readonly #counts: WorkerCounts
  readonly #stopping = new AbortController()
  readonly #missing: MissingCode
  #state: 'new' | 'started' | 'stopping' = 'new'
  #stopped: Promise<void> | null = null
  #claiming: Promise<void> | null = null
  #isWoken = false
  #lastDeliveryAt = Number.NEGATIVE_INFINITY
  #cancelPoll = () => {}
  #cancelBeat = () => {}
  #endWatches: (() => void)[] = []

  /** `counts`: shared with the thread that saves deliveries, where that is another one. */
  constructor(parts: WorkerParts, { id, counts }: { id?: string; counts?: WorkerCounts } = {}) {
    this.#parts = parts
    this.id = id ?? newId('wrk', parts.clock.now())
    this.#counts = counts ?? new WorkerCounts()
    this.#recovery = new Recovery(parts)
    this.#missing = new MissingCode(parts)
    this.#passes = new ActivePasses({
      ...parts,
      execute: (run, claim, pass) =>
        this.#executePass(run, claim, pass).catch((error: unknown) =>
          parkBrokenPass(parts, run, error, this.#stopping.signal),
        ),
      ...reportOwnWork(parts),
      counts: this.#counts,
      ended: () => this.wake(),
    })
    this.#arrivals = new ClaimOnArrival({
      store: parts.store,
      counts: this.#counts,
      claimFor: (workflows) => claimFor(this.id, workflows, parts.findWorkflow),
      arrived: (arrivals) => this.receive(arrivals),
    })
    this.#matcher = new EventMatcher({
      ...parts,
      keys: declaredKeys,
      woken: () => this.wake(),
      matched: () => this.#passes.hintWaits(),
      canceled: (runId) => this.#passes.endPass(runId),
    })
  }

  get atWork(): string[] {
    return this.#passes.runIds
  }

  /** Recovers the runs of dead workers, and begins to claim after `prepare`. */
  async start(prepare: () => Promise<void> = async () => {}): Promise<void> {
    if (this.#state !== 'new') return
    this.#state = 'started'
    this.#endWatches = [watchOwnWork(), ...(this.#parts.outside ? [watchEffects()] : [])]
    await this.#parts.store.startWorker(this.id, this.#parts.clock.now())
    await this.#recover()
    if (this.#stopping.signal.aborted) return
    this.#scheduleBeat()
    await prepare()
    if (this.#stopping.signal.aborted) return
    this.#counts.slots.give(this.#parts.slots)
    this.wake()
  }

  /** A hint that there may be something to claim. */
  wake(): void {
    if (this.#state !== 'started') return
    this.#isWoken = true
    this.#matcher.wake()
    this.#passes.hintWaits()
    this.#claiming ??= this.#claimWhileWoken().finally(() => {
      this.#claiming = null
      if (this.#isWoken) this.wake()
    })
  }

  /** Saves a delivery, and claims its runs in the same commit if it may. See decision 13. */
  saveDelivery(delivery: IncomingDelivery): Promise<DeliveryReceipt> {
    return this.#arrivals.saveDelivery(delivery)
  }

  /** Begins the runs that were claimed for this worker as their deliveries were saved. */
  receive({ claimed, hasQueued }: Arrivals): void {
    // A stopping worker releases these runs: `stopWorker` is queued behind their deliveries.
    if (this.#state !== 'started') return
    this.#lastDeliveryAt = this.#parts.clock.now()
    for (const { delivery, receipt } of claimed) {
      for (const run of listClaimedOnArrival(delivery, receipt))
        this.#passes.begin(run, { at: run.startedAt, hasSlot: true, isQueueEmpty: true })
    }
    if (hasQueued) this.wake()
    else this.matchEvents()
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
    this.#counts.slots.close()
    this.#cancelPoll()
    this.#cancelBeat()
    await Promise.all([this.#claiming, this.#recovery.stop()])
    await this.#passes.drain(this.#parts.clock, this.#parts.drainMs)
    // Only now: a wait whose time is over is decided once its events are matched.
    await this.#matcher.stop()
    for (const end of [...this.#endWatches, () => this.#parts.outside?.settled()]) await end()
    if (wasStarted) await this.#parts.store.stopWorker(this.id)
  }

  async #claimWhileWoken(): Promise<void> {
    try {
      while (this.#isWoken && this.#state === 'started') {
        this.#isWoken = false
        if (this.#counts.slots.free > 0) await this.#claim()
        else await this.#admitAhead()
      }
    } catch (error) {
      this.#report('claiming runs', error)
    }
    await this.#schedulePoll()
  }

  async #claim(): Promise<void> {
    const { slots, queue } = this.#counts
    const now = this.#parts.clock.now()
    const free = slots.takeAll()
    const asked = queue.ask(free, now - this.#lastDeliveryAt < POLL_MS)
    slots.give(free - asked)
    let unused = asked
    try {
      const claimed = await this.#claimNext(asked, now)
      unused -= claimed.length
      await this.#begin(claimed, asked, { at: now, hasSlot: true })
      queue.receive(claimed.length)
    } finally {
      slots.give(unused)
      queue.release()
    }
  }

  /** Without a quarantine, an idle worker tries a suspect itself, beside runs that come then. */
  async #claimNext(asked: number, now: number): Promise<ClaimedRun[]> {
    const { store, suspects = 'when_idle' } = this.#parts
    if (suspects === 'only') {
      const tried = Math.min(asked, this.#passes.mayTry(now))
      return tried > 0 ? store.claimSuspects(this.id, tried, now) : []
    }
    const claimed = await store.claimRuns(this.id, asked, now)
    const isIdle = claimed.length === 0 && this.#passes.runIds.length === 0
    if (!isIdle || asked === 0 || suspects === 'never' || !(await store.hasSuspects())) return claimed
    return store.claimSuspects(this.id, 1, now)
  }

  /** Without a free slot, new runs are still put in line or folded into others. */
  async #admitAhead(): Promise<void> {
    const { store, clock, suspects, admitsAhead = () => false } = this.#parts
    const asked = suspects !== 'only' && admitsAhead() ? MAX_ADMISSION_PASSES - this.#passes.admissionPasses : 0
    if (asked <= 0) return
    const at = clock.now()
    await this.#begin(await store.claimUnadmittedRuns(this.id, asked, at), asked, { at, hasSlot: false })
  }

  async #begin(claimed: readonly ClaimedRun[], asked: number, claim: Omit<Claim, 'isQueueEmpty'>): Promise<void> {
    // The deliveries that caused the runs may be answered with the claim: they are told first.
    if (claimed.length > 0) await turn()
    const isQueueEmpty = claimed.length < asked
    for (const run of claimed) this.#passes.begin(run, { ...claim, isQueueEmpty })
    if (!isQueueEmpty) this.#isWoken = true
  }

  async #executePass(run: ClaimedRun, claim: Claim, pass: RunningPass): Promise<void> {
    const { store, clock, publish } = this.#parts
    const workflow = this.#parts.findWorkflow(run.workflow)
    const cancelOther = (other: string, reason: string) => {
      this.#passes.endPass(other)
      const end = { run: other, workflow: run.workflow, root: null, parentRun: null, ms: null, reason }
      publish({ kind: 'run.canceled', ...end })
    }
    const request = { run, workflow, claim, cancelOther, matcher: this.#matcher, ...pass }
    const { outcome, pass: executed } = await runPass(this.#parts, request)
    this.#missing.note(run, workflow !== undefined, outcome)
    const journal = executed?.journal
    pass.isSettling = true
    const settling = { now: clock.now(), workflow, mayHandOn: this.#passes.mayHandOn }
    const { settled, next } = await settleRun(store, run, outcome, settling)
    // One of the last checkpoints may fail on its own. The run has ended in any case.
    if (settled.kind !== 'lost')
      await journal?.barrier()?.catch((error) => this.#report(`run ${run.lease.runId}`, error))
    if (workflow && executed && settled.kind === 'parked') this.#passes.keep(executed, workflow)
    this.#passes.handOn(next, pass, settling.now)
    // Before the notice: a listener may deliver the next run at once.
    pass.releaseSlot()
    // Its end has canceled what it invoked.
    if (['failed', 'expired'].includes(settled.kind) && this.#passes.hasInvoked) this.endPass(run.lease.runId)
    const tags = executed?.tags.all ?? run.tags ?? {}
    const notice = describeOutcome(run, settled, { now: clock.now(), steps: journal?.finished ?? 0, tags })
    const marked = await markFailover(notice, run.lease, { store, signal: this.#stopping.signal })
    publish(marked)
    if (marked.kind !== 'run.lost' || !marked.failover) return
    // A claim that is committed by now has an answer then.
    const listAtWork = () => Promise.resolve(this.#claiming).then(() => this.#passes.runIds)
    void giveBackDropped(run.lease, { parking: pass.parking, listAtWork }, store).then(() => this.wake())
  }

  async #schedulePoll(): Promise<void> {
    this.#cancelPoll()
    if (this.#state !== 'started') return
    const { clock, store, suspects, pollMs = POLL_MS } = this.#parts
    // Without a free slot a due run cannot be claimed yet; the run that frees one wakes the worker.
    const dueAt = this.#counts.slots.free > 0 && suspects !== 'only' ? await store.nextDueAt().catch(() => null) : null
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
        .then(() => (this.#state === 'started' ? this.#passes.checkAll(this.#parts, this.id) : undefined))
        .catch((error: unknown) => this.#report('the heartbeat', error))
        .finally(() => this.#state === 'started' && this.#scheduleBeat())
    })
  }

  async #recover(): Promise<void> {
    if (await this.#recovery.run()) this.wake()
  }

  #report(where: string, error: unknown): void {
    this.#parts.publish({ kind: 'fault', where, error: describeError(error) })
  }
}
