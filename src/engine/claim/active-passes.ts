import type { AnyWorkflow } from '../../author/workflow.ts'
import { UpshotError } from '../../core/errors.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import { ALONE_MS, type Lease } from '../../core/runs/lease.ts'
import type { Clock } from '../../core/time.ts'
import type { Claim } from '../execute/run-pass.ts'
import type { OwnWorkItem } from '../pass/own-work.ts'
import { Parking } from '../pass/parking.ts'
import type { Pass } from '../pass/pass.ts'
import { runForRun } from '../pass/scope.ts'
import { WaitHints } from '../pass/wait.ts'
import type { WorkerParts } from '../worker-parts.ts'
import { PassCache } from './pass-cache.ts'
import { SlotWatch } from './slot-watch.ts'
import { StillWatch } from './still-watch.ts'
import type { WorkerCounts } from './worker-counts.ts'

export interface RunningPass {
  lease: Lease
  beganAt: number
  /** True where another run invoked its run, and may end it. */
  isInvoked: boolean
  parking: Parking
  abort: AbortController
  /** The earlier pass whose code it goes on with. */
  cached: Pass | undefined
  still: StillWatch
  /** To be called where its code is called. */
  opened: (pass: Pass) => void
  /** True once its outcome is decided: it cannot be ended any more. */
  isSettling: boolean
  /** May be called early, before the end of the pass. `isHandedOn`: another pass has the slot. */
  releaseSlot: (isHandedOn?: boolean) => void
  done: Promise<void>
}

interface Parts
  extends Pick<WorkerParts, 'clock' | 'findWorkflow' | 'passCache' | 'isOrphan' | 'slots' | 'suspects' | 'aloneMs'> {
  store: Pick<WorkerParts['store'], 'listEndedWaits'>
  /** Executes one pass; must not reject. */
  execute: (run: ClaimedRun, claim: Claim, pass: RunningPass) => Promise<void>
  /** Tells work outside steps that a pass does not wait for, and timers of the code's own. */
  reportPending: (run: ClaimedRun, item: OwnWorkItem) => void
  reportTimer?: ((run: ClaimedRun, item: OwnWorkItem) => void) | undefined
  counts: Pick<WorkerCounts, 'slots' | 'noteClaim'>
  /** Called after each pass. */
  ended: () => void
}

/** The passes that a worker is executing, by run id. */
export class ActivePasses {
  readonly #parts: Parts
  readonly #passes = new Map<string, RunningPass>()
  readonly #hints = new WaitHints()
  readonly #cache: PassCache
  readonly #forgotten = new ForgottenLeases()
  readonly #slotWatch = new SlotWatch()
  #admissionPasses = 0
  /** Suspects that were at work for long enough to be thought harmless. */
  readonly #tried = new Set<string>()
  /** Passes in the worker slot of a run whose slot at a gate went to theirs. */
  #handedOn = 0
  #isDraining = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.#cache = new PassCache(parts.clock, parts.passCache)
  }

  get runIds(): string[] {
    return [...this.#passes.keys()]
  }

  /** True while a run is at work that another one invoked. */
  get hasInvoked(): boolean {
    return this.#passes.values().some(({ isInvoked }) => isInvoked)
  }

  /** Number of passes without a slot: they admit their run and execute none of its code. */
  get admissionPasses(): number {
    return this.#admissionPasses
  }

  /** Whether an end may hand on its slot at a gate: half of the worker's slots are for others. */
  get mayHandOn(): boolean {
    const { slots, suspects, counts } = this.#parts
    // Fewer than none are free while memory is short.
    if (counts.slots.free < 0) return false
    return !this.#isDraining && suspects !== 'only' && this.#handedOn < slots / 2
  }

  /**
   * How many suspects may begin: none while one has begun just now, and then as many as were found
   * harmless. So the first is alone, and so is each once several have died together.
   */
  mayTry(now: number): number {
    const { aloneMs = ALONE_MS } = this.#parts
    for (const { lease, beganAt } of this.#passes.values()) {
      if (Math.abs(now - beganAt) < aloneMs) return 0
      this.#tried.add(lease.runId)
    }
    return aloneMs > ALONE_MS ? 1 : Math.max(this.#tried.size, 1)
  }

  /** Begins a pass in the slot of another one, which ends. A stopping worker releases the run. */
  handOn(run: ClaimedRun | undefined, from: RunningPass, at: number): void {
    if (!run || this.#isDraining) return
    from.releaseSlot(true)
    this.begin(run, { at, hasSlot: true, isQueueEmpty: false }, true)
  }

  begin(run: ClaimedRun, claim: Claim, isHandedOn = false): void {
    const { lease } = run
    const { runId } = lease
    this.#parts.counts.noteClaim()
    const before = this.#passes.get(runId)
    const admissionPasses = claim.hasSlot ? 0 : 1
    let isReleased = false
    const releaseSlot = (isSlotTaken = false) => {
      if (isReleased) return
      isReleased = true
      if (this.#passes.get(runId) === pass) this.#passes.delete(runId)
      this.#admissionPasses -= admissionPasses
      if (isHandedOn) this.#handedOn -= 1
      if (claim.hasSlot && !isSlotTaken) this.#parts.counts.slots.give(1)
    }
    const cached = this.#cache.take(run, this.#parts.findWorkflow)
    const control = {
      cached,
      parking: cached?.parking ?? this.#openParking(run),
      abort: cached?.abort ?? new AbortController(),
    }
    const still = new StillWatch(cached ?? null)
    const pass: RunningPass = {
      lease,
      beganAt: this.#parts.clock.now(),
      isInvoked: run.cause.kind === 'call',
      ...control,
      still,
      opened: (begun) => {
        still.pass = begun
      },
      isSettling: false,
      releaseSlot,
      done: Promise.resolve(),
    }
    this.#passes.set(runId, pass)
    this.#admissionPasses += admissionPasses
    if (isHandedOn) this.#handedOn += 1
    const execute = () => runForRun(runId, () => this.#parts.execute(run, claim, pass))
    pass.done = (before ? executeAfter(before, pass, execute) : execute()).finally(() => {
      releaseSlot()
      this.#parts.ended()
    })
  }

  #openParking(run: ClaimedRun): Parking {
    const { clock, store, reportPending, reportTimer, isOrphan } = this.#parts
    return new Parking({
      clock,
      hints: this.#hints,
      isOrphan,
      listEndedWaits: () => store.listEndedWaits(run.lease.runId),
      reportPending: (item) => reportPending(run, item),
      reportTimer: reportTimer && ((item) => reportTimer(run, item)),
    })
  }

  /** Keeps a pass that has parked, so that the next one of its run may go on with it. */
  keep(pass: Pass, workflow: AnyWorkflow): void {
    if (!this.#isDraining) this.#cache.add(pass, workflow)
  }

  /** A hint that an event or a run has ended: steps that wait for one beside others may go on. */
  hintWaits(): void {
    this.#hints.hint()
  }

  /** Ends the pass of a run that was canceled or taken over; does nothing where there is none. */
  endPass(runId: string): void {
    const pass = this.#passes.get(runId)
    if (pass) endLost(pass)
  }

  /** Ends the passes that began before `listLeases` was called and have no lease in its answer. */
  async endLostPasses(listLeases: () => Promise<readonly Omit<Lease, 'worker'>[]>): Promise<void> {
    this.#cache.dropOld()
    const before = [...this.#passes]
    if (before.length === 0) return
    const leases = new Map((await listLeases()).map((lease) => [lease.runId, lease]))
    for (const [runId, pass] of before) {
      const { fence, era } = leases.get(runId) ?? {}
      const isHeld = fence === pass.lease.fence && era === pass.lease.era
      if (this.#passes.get(runId) === pass && !isHeld) this.endPass(runId)
    }
  }

  /**
   * The same, and gives back what the worker holds without a pass (see `ForgottenLeases`). Looks
   * for passes that are still, or that hold the slots.
   */
  async checkAll({ store, publish }: Pick<WorkerParts, 'store' | 'publish'>, worker: string): Promise<void> {
    const { clock, slots, counts } = this.#parts
    for (const { still } of this.#passes.values()) still.look(clock)
    this.#slotWatch.look(this.#passes.values(), { clock, slots, publish, free: counts.slots.free })
    await this.endLostPasses(() => store.listLeases(worker))
    const held = await store.listLeases(worker)
    const forgotten = this.#forgotten.find(held, { atWork: this.runIds, now: this.#parts.clock.now() })
    // At once: each waits for the writes of the runs that are at work again.
    const giveBack = async (lease: Held) => {
      await store.releaseRun({ ...lease, worker })
      publish({ kind: 'lease.given_back', run: lease.runId })
    }
    await Promise.all(forgotten.map(giveBack))
  }

  /**
   * Lets the steps at work finish and ends the passes that take longer than `drainMs`. Resolves
   * when no pass is left.
   */
  async drain(clock: Clock, drainMs: number): Promise<void> {
    this.#isDraining = true
    this.#cache.clear()
    const passes = [...this.#passes.values()]
    for (const { parking } of passes) parking.drain()
    const done = Promise.all(passes.map((pass) => pass.done))
    const late = Promise.withResolvers<void>()
    const cancel = clock.at(clock.now() + drainMs, late.resolve)
    await Promise.race([done, late.promise])
    cancel()
    for (const { parking, abort } of this.#passes.values()) {
      abort.abort(new UpshotError('draining', 'The process stops.'))
      parking.endPass({ kind: 'released' })
    }
    await done
  }
}

/**
 * Executes a pass behind this worker's earlier one of its run, which has lost its lease and does
 * not know. It waits for the steps at work there, so that none is at work twice here.
 */
async function executeAfter(before: RunningPass, pass: RunningPass, execute: () => Promise<void>): Promise<void> {
  endLost(before)
  const isIdle = before.done.then(() => before.parking.idle())
  await Promise.race([isIdle, pass.parking.ended])
  if (!pass.parking.hasEnded) await execute()
}

function endLost({ isSettling, abort, parking }: RunningPass): void {
  if (isSettling) return
  abort.abort(new UpshotError('conflict', 'The run was canceled or taken over.'))
  parking.endPass({ kind: 'lost' })
}

/** A claim reaches its worker within this time. */
const FORGOTTEN_MS = 5_000

type Held = Omit<Lease, 'worker'>

/**
 * The leases of a worker that it does not execute: those whose claim was committed and never
 * answered. Each has to be seen twice, since a claim may be on its way.
 */
export class ForgottenLeases {
  readonly #seen = new Map<string, { fence: number; since: number }>()

  /** Those of `held` to give back. */
  find(held: readonly Held[], { atWork, now }: { atWork: readonly string[]; now: number }): Held[] {
    const idle = held.filter(({ runId }) => !atWork.includes(runId))
    const before = new Map(this.#seen)
    this.#seen.clear()
    for (const { runId, fence } of idle) {
      const known = before.get(runId)
      this.#seen.set(runId, { fence, since: known?.fence === fence ? known.since : now })
    }
    return idle.filter(({ runId }) => now - (this.#seen.get(runId)?.since ?? now) >= FORGOTTEN_MS)
  }
}
