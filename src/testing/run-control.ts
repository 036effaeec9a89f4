import { UpshotError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import type { IncomingDelivery } from '../core/incoming/delivery.ts'
import { toJson } from '../core/json.ts'
import { findObstacle, type RunOperation } from '../core/runs/run.ts'
import type { CronTrigger } from '../core/runs/schedule.ts'
import { planFork } from '../core/runs/step.ts'
import { listTickAccounts } from '../core/service/account.ts'
import type { Store } from '../core/store/store.ts'
import { isoTime } from '../core/time.ts'
import type { TestEngine } from './engine/test-engine.ts'
import type { SentEvent } from './world/test-events.ts'

/** Runs that a pause holds, or its end releases, per commit. */
const SLICE = 500

interface Parts {
  store: Store
  engine: Pick<TestEngine, 'endPass'>
  now: () => number
}

/** The account that something is done for. */
export interface OfAccount {
  /** Default `default`. */
  account?: string
}

/** The first step that a fork runs again, and its result given by hand. */
export interface ForkOptions {
  /** Key of the first step to run again; steps before it keep their results. */
  from: string
  /** A result for that step, which then does not run. Default: it runs. */
  output?: unknown
}

/**
 * The operations of a person, as the command line performs them. Each returns the run to look at.
 */
export class RunControl {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Saves an event as a receiver does, with the runs that it starts; returns their ids. */
  async send(
    event: SentEvent,
    account: string,
    plan: Pick<IncomingDelivery, 'workflows' | 'priorities'>,
  ): Promise<readonly string[]> {
    const { store, now } = this.#parts
    const { id, type, created } = event
    const { runs } = await store.saveDelivery({
      id: newId('dlv', now()),
      endpointId: 'end_testbed',
      account,
      receivedAt: now(),
      event: { id, type, created },
      body: JSON.stringify(event),
      facts: {},
      ...plan,
    })
    return runs
  }

  async start(workflow: string, input: unknown, account: string): Promise<string> {
    const { store, now } = this.#parts
    const run = newId('run', now())
    const json = toJson(input, `The input of "${workflow}"`)
    await store.startRun({ run, workflow, account, input: json, createdAt: now() })
    return run
  }

  /** A tick for each account of a schedule, or for one; returns the run of the first. */
  async tick(
    { id, schedule }: { id: string; schedule: CronTrigger },
    scheduledFor: number,
    account: string | undefined,
  ): Promise<string> {
    const { store, now } = this.#parts
    const runs: (string | null | undefined)[] = []
    for (const each of account === undefined ? await listTickAccounts(schedule, () => store.listAccounts()) : [account])
      runs.push(await store.recordTick(id, { scheduledFor, missed: 0 }, now(), { account: each }))
    const run = runs.find((each) => each != null)
    if (run != null) return run
    throw new UpshotError('conflict', `The tick of "${id}" at ${isoTime(scheduledFor)} already has its run.`)
  }

  async cancel(run: string, reason: string): Promise<string> {
    const { store, engine, now } = this.#parts
    await this.#require(run, 'cancel', await store.cancelRun(run, reason, now()))
    engine.endPass(run)
    return run
  }

  async retry(run: string): Promise<string> {
    const { store, now } = this.#parts
    return this.#require(run, 'retry', await store.retryRun(run, now()))
  }

  async resume(run: string, fromScratch: boolean): Promise<string> {
    return this.#require(run, 'resume', await this.#parts.store.resumeRun(run, { fromScratch }))
  }

  async fork(run: string, { from, ...given }: ForkOptions): Promise<string> {
    const { store, now } = this.#parts
    const keys = planFork(await store.listSteps(run), from)
    const edited = 'output' in given ? { key: from, output: toJson(given.output, `The output of "${from}"`) } : null
    return store.forkRun(run, { keys, edited }, now())
  }

  async pause(workflow: string): Promise<void> {
    const { store, now } = this.#parts
    await store.pauseWorkflow(workflow, now())
    while ((await store.holdRuns(workflow, SLICE)) > 0);
  }

  async unpause(workflow: string): Promise<void> {
    const { store } = this.#parts
    await store.resumeWorkflow(workflow)
    while ((await store.releaseHeldRuns(workflow, SLICE)) > 0);
  }

  /** Returns the id. Throws `conflict` with the reason where the store refused. */
  async #require(id: string, operation: keyof typeof PAST, isDone: boolean): Promise<string> {
    if (isDone) return id
    const { store, now } = this.#parts
    const run = await store.findRun(id)
    const obstacle = run ? findObstacle(operation, run, now()) : 'there is no such run'
    throw new UpshotError('conflict', `Run ${id} cannot be ${PAST[operation]}: ${obstacle ?? 'it has changed'}.`)
  }
}

const PAST = { cancel: 'canceled', retry: 'retried', resume: 'resumed' } as const satisfies Partial<
  Record<RunOperation, string>
>
