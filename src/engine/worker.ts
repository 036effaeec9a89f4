import { setImmediate as turn } from 'node:timers/promises'
import { describeError, UpshotError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { HEARTBEAT_MS, LEASE_MS } from '../core/lease.ts'
import type { Publish } from '../core/notices.ts'
import type { Route } from '../core/route.ts'
import type { ClaimedRun } from '../core/run.ts'
import type { Store } from '../core/store.ts'
import { type Clock, waitUntil } from '../core/time.ts'
import { declaredKeys } from '../core/wait.ts'
import type { AnyWorkflow } from '../core/workflow.ts'
import type { AdmissionParts } from './admit-run.ts'
import type { SpellingsOf } from './gather-facts.ts'
import { EventMatcher, type MatcherParts } from './match-events.ts'
import { Parking } from './parking.ts'
import type { PassStore } from './pass.ts'
import type { FilesFor } from './run-context.ts'
import { asLost, describeOutcome, isStaleLease, type SettleStore, settleRun } from './settle-run.ts'
import { type Claim, takePass } from './take-pass.ts'

export type WorkerStore = SettleStore &
  PassStore &
  MatcherParts['store'] &
  AdmissionParts['store'] &
  Pick<
    Store,
    | 'startWorker'
    | 'beatWorker'
    | 'recoverRuns'
    | 'stopWorker'
    | 'claimRuns'
    | 'claimUnseenRuns'
    | 'saveCheckpoint'
    | 'listSteps'
    | 'nextDueAt'
    | 'listLeases'
  >

export interface WorkerParts {
  store: WorkerStore
  clock: Clock
  random: () => number
  publish: Publish
  findWorkflow: (id: string) => AnyWorkflow | undefined
  filesFor: FilesFor
  /** What an event that a step sends starts. */
  routes: () => Promise<readonly Route[]> | readonly Route[]
  /** Default: our own names. */
  spellingsOf?: SpellingsOf
  /** Runs at work at the same time. */
  slots: number
  /** Whether some workflow limits its runs: then new ones are looked at even while no slot is free. */
  looksAhead?: () => boolean
  /** How long {@link Worker.stop} waits for steps at work before it gives them up. */
  drainMs: number
  /** How often it looks for runs nobody told it of, and says that it is alive; defaults 1 s and {@link HEARTBEAT_MS}. */
  pollMs?: number
  beatMs?: number
}

/** A lost wake-up costs this much, never a run. */
const POLL_MS = 1_000
/** Runs that are looked at together while no slot is free. */
const MOST_LOOKS = 20
/** A run whose pass broke goes on after this long, and so often it is tried to say so. */
const HAND_BACK_MS = 5_000

/** A pass at work. */
interface RunningPass {
  fence: number
  parking: Parking
  abort: AbortController
  /** Its outcome is decided; there is nothing to abort any more. */
  isSettling: boolean
  done: Promise<void>
}

/** Claims runs while it has free slots and takes each one pass further. */
export class Worker {
  readonly id: string
  readonly #parts: WorkerParts
  readonly #matcher: EventMatcher
  readonly #passes = new Map<string, RunningPass>()
  readonly #stopping = new AbortController()
  #state: 'new' | 'started' | 'stopping' = 'new'
  #stopped: Promise<void> | null = null
  #claiming: Promise<void> | null = null
  #isWoken = false
  /** Passes that only look where a run belongs, and need no slot. */
  #looks = 0
  #cancelPoll = () => {}
  #cancelBeat = () => {}

  constructor(parts: WorkerParts) {
    this.#parts = parts
    this.id = newId('wrk', parts.clock.now())
    this.#matcher = new EventMatcher({
      ...parts,
      keys: declaredKeys,
      woken: () => this.wake(),
      canceled: (runId) => this.#giveUp(runId),
    })
  }

  /** Ids of the runs at work now. */
  get atWork(): string[] {
    return [...this.#passes.keys()]
  }

  /** Takes back the runs of dead workers and begins to claim. */
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

  /** A hint that there are new events, whether or not they start a run. */
  matchEvents(): void {
    if (this.#state === 'started') this.#matcher.wake()
  }

  /** Ends what this worker does on a run that a person canceled, and on the runs that it invoked. */
  abandon(runId: string): void {
    this.#giveUp(runId)
    this.checkLeases().catch((error: unknown) => this.#report(`the runs that ${runId} invoked`, error))
  }

  #giveUp(runId: string): void {
    const pass = this.#passes.get(runId)
    if (!pass || pass.isSettling) return
    pass.abort.abort(new UpshotError('conflict', 'The run was canceled or taken over.'))
    pass.parking.abandon({ kind: 'lost' })
  }

  /** A hint that another process may have canceled or taken over a run that is at work here: what is lost is ended. */
  async checkLeases(): Promise<void> {
    const atWork = [...this.#passes]
    if (this.#state !== 'started' || atWork.length === 0) return
    const held = new Map((await this.#parts.store.listLeases(this.id)).map((lease) => [lease.runId, lease.fence]))
    for (const [runId, pass] of atWork) {
      if (this.#passes.get(runId) === pass && held.get(runId) !== pass.fence) this.#giveUp(runId)
    }
  }

  /** Lets the steps at work finish, hands every run back, and resolves when nothing more will be written. */
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
    for (const { parking } of this.#passes.values()) parking.drain()
    await this.#finishOrGiveUp()
    if (wasStarted) await this.#parts.store.stopWorker(this.id)
  }

  async #finishOrGiveUp(): Promise<void> {
    const { clock, drainMs } = this.#parts
    const done = Promise.all([...this.#passes.values()].map((running) => running.done))
    const late = Promise.withResolvers<void>()
    const cancel = clock.at(clock.now() + drainMs, late.resolve)
    await Promise.race([done, late.promise])
    cancel()
    for (const { parking, abort } of this.#passes.values()) {
      abort.abort(new UpshotError('draining', 'The process stops.'))
      parking.abandon({ kind: 'lost' })
    }
    await Promise.all([...this.#passes.values()].map((running) => running.done))
  }

  async #claimWhileWoken(): Promise<void> {
    const { store, clock, slots, looksAhead = () => false } = this.#parts
    try {
      while (this.#isWoken && this.#state === 'started') {
        this.#isWoken = false
        const free = slots - (this.#passes.size - this.#looks)
        const hasSlot = free > 0
        const asked = hasSlot ? free : looksAhead() ? MOST_LOOKS - this.#looks : 0
        if (asked <= 0) break
        const claimed = await (hasSlot
          ? store.claimRuns(this.id, asked, clock.now())
          : store.claimUnseenRuns(this.id, asked, clock.now()))
        // A claim may be answered together with the deliveries that caused the runs: those are acknowledged first.
        if (claimed.length > 0) await turn()
        const isAlone = claimed.length < asked
        for (const run of claimed) this.#begin(run, { hasSlot, isAlone })
        if (!isAlone) this.#isWoken = true
      }
    } catch (error) {
      this.#report('claiming runs', error)
    }
    await this.#schedulePoll()
  }

  #begin(run: ClaimedRun, claim: Claim): void {
    const parking = new Parking()
    const abort = new AbortController()
    const pass: RunningPass = { fence: run.lease.fence, parking, abort, isSettling: false, done: Promise.resolve() }
    this.#passes.set(run.lease.runId, pass)
    const look = claim.hasSlot ? 0 : 1
    this.#looks += look
    pass.done = this.#takeFurther(run, claim, pass)
      .catch((error: unknown) => this.#handBack(run, error))
      .finally(() => {
        this.#passes.delete(run.lease.runId)
        this.#looks -= look
        this.wake()
      })
  }

  /** One pass: read facts, let the outcome be decided, settle it. */
  async #takeFurther(run: ClaimedRun, claim: Claim, running: RunningPass): Promise<void> {
    const { store, clock, publish, findWorkflow } = this.#parts
    const workflow = findWorkflow(run.workflow)
    const cancelOther = (other: string, reason: string) => this.#end(other, run.workflow, reason)
    const parts = { ...this.#parts, matcher: this.#matcher }
    const { outcome, journal } = await takePass(parts, { run, workflow, claim, cancelOther, ...running })
    running.isSettling = true
    const settled = await settleRun(store, run, outcome, { now: clock.now(), workflow }).then(() => outcome, asLost)
    // The last checkpoints went out just before the end and share its commit; one that failed alone must be heard of.
    if (settled.kind !== 'lost') await journal?.barrier()
    publish(describeOutcome(run, settled, { now: clock.now(), steps: journal?.finished ?? 0 }))
  }

  #end(other: string, workflow: string, reason: string): void {
    this.#giveUp(other)
    this.#parts.publish({ kind: 'run.canceled', run: other, workflow, reason })
  }

  /** The pass itself broke, most likely because the store cannot be written. The run must not stay ours for ever. */
  async #handBack(run: ClaimedRun, error: unknown): Promise<void> {
    const { store, clock, publish } = this.#parts
    this.#report(`run ${run.lease.runId}`, error)
    while (this.#state === 'started') {
      const dueAt = clock.now() + HAND_BACK_MS
      const outcome = { kind: 'parked', dueAt, reason: `interrupted: ${describeError(error).message}` } as const
      const isDone = await store.parkRun(run.lease, outcome).then(() => true, isStaleLease)
      if (isDone) return publish(describeOutcome(run, outcome, { now: clock.now(), steps: 0 }))
      await waitUntil(clock, dueAt, this.#stopping.signal).catch(() => {})
    }
  }

  async #schedulePoll(): Promise<void> {
    this.#cancelPoll()
    if (this.#state !== 'started') return
    const { clock, store, slots, pollMs = POLL_MS } = this.#parts
    // Without a free slot a due run cannot be claimed yet; the run that frees one wakes the worker.
    const hasSlot = this.#passes.size - this.#looks < slots
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
