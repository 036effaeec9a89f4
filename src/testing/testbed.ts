import type { EventDefinition } from '../author/define-event.ts'
import type { Jsonify } from '../author/jsonify.ts'
import type { AnyWorkflow } from '../author/workflow.ts'
import { UpshotError } from '../core/errors.ts'
import type { ServiceEvent } from '../core/incoming/event.ts'
import { DEFAULT_ACCOUNT } from '../core/service/account.ts'
import type { Store } from '../core/store/store.ts'
import type { Duration } from '../core/time.ts'
import { createNoticeBus, type NoticeBus } from '../notices/notice-bus.ts'
import type { FaultInput, Sandbox } from '../sandbox/index.ts'
import { Activity } from './engine/activity.ts'
import type { PlannedCrash } from './engine/crash-point.ts'
import type { ReplacedSteps } from './engine/replaced-steps.ts'
import { TestEngine } from './engine/test-engine.ts'
import { WorkUnderWay } from './engine/work-under-way.ts'
import { readMoment, readOptions, type TestbedOptions } from './options.ts'
import { Deciding, People } from './people.ts'
import { RunBook, type Sent, type TestEffect, type TestRun } from './run-book.ts'
import { type ForkOptions, type OfAccount, RunControl } from './run-control.ts'
import { seededRandom } from './seeded-random.ts'
import type { TestWorkflows, WorkflowOrId } from './test-workflows.ts'
import { type DeliverOptions, FrontDoor, type TestDelivery } from './world/front-door.ts'
import { type OpenedStore, openTestStore } from './world/open-test-store.ts'
import { type SentEvent, TestEvents } from './world/test-events.ts'
import { listTestSchedules, type TestSchedule } from './world/test-schedules.ts'
import { addAccounts, openTestStorage, TestService, type TestStorage } from './world/test-service.ts'
import { VirtualTime } from './world/virtual-time.ts'

/** A run or its id. */
type RunOrId = TestRun | string
/** The type of a workflow's output. */
type OutputOf<W> = W extends { run: (context: never) => infer Output } ? Jsonify<Awaited<Output>> : unknown

/**
 * Opens a testbed: the real engine on a store of its own, with a sandbox. Its clock stands still
 * until `advance` moves it.
 */
export async function testbed(options: TestbedOptions): Promise<Testbed> {
  return Testbed.open(options)
}

/** Made by {@link testbed}. Each method resolves when everything it set off has come to rest. */
export class Testbed extends Deciding implements AsyncDisposable {
  /** Notices of the engine as they happen, for tests that act in the middle of a run. */
  readonly notices: Pick<NoticeBus, 'subscribe' | 'once'>
  /** Faults of the sandbox. They apply to calls from now on. */
  readonly faults = {
    add: async (fault: FaultInput): Promise<void> => void (await (await this.sandbox()).faults.add(fault)),
    clear: async (): Promise<void> => (await this.sandbox()).faults.clear(),
  }
  readonly #workflows: TestWorkflows
  readonly #replaced: ReplacedSteps
  readonly #store: Store
  readonly #bus = createNoticeBus()
  readonly #time: VirtualTime
  readonly #service: TestService
  readonly #door: FrontDoor
  readonly #book = new RunBook()
  readonly #engine: TestEngine
  readonly #control: RunControl
  protected readonly people: People
  #hasPaused = false
  readonly #events = new TestEvents()
  #closed: Promise<void> | null = null

  private constructor(options: TestbedOptions, opened: OpenedStore, { crash, deploy }: PlannedCrash) {
    super()
    const { now, seed, slots, workers, sandbox, workflows, replaced, patienceMs, guard, cachePasses } =
      readOptions(options)
    this.#workflows = workflows
    this.#replaced = replaced
    const random = seededRandom(seed)
    this.#time = new VirtualTime(now)
    this.#store = opened.store
    this.#service = new TestService(this.#time, { ...sandbox, seed })
    this.#door = new FrontDoor(this.#store, this.#time.clock, () => workflows.routes)
    this.people = new People(this.#store, () => this.now())
    this.notices = this.#bus
    this.#bus.subscribe('run.log', (notice) => this.#book.note(notice))
    const parts = { ...opened, time: this.#time, activity: new Activity(), publish: this.#bus.publish }
    if (crash && deploy) crash.onKill = () => workflows.deploy(deploy)
    const openFiles = () => this.#service.openFiles(random)
    this.#engine = new TestEngine(
      {
        ...parts,
        random,
        slots,
        workers,
        guard,
        cachePasses,
        openFiles,
        workflows: () => workflows.all,
        crash: crash ?? null,
        work: new WorkUnderWay(),
      },
      patienceMs,
    )
    this.#control = new RunControl({ store: this.#store, engine: this.#engine, now: () => this.now() })
  }

  /** After a planned crash, the engine restarts by itself. */
  static async open(options: TestbedOptions, planned: PlannedCrash = {}): Promise<Testbed> {
    return openTestStore(options.databaseUrl, async (store) => {
      const opened = new Testbed(options, store, planned)
      planned.onOpen?.(store.store)
      await addAccounts(opened.#store, options.accounts ?? [], opened.now())
      await opened.#engine.start()
      return opened
    })
  }

  /** The testbed's time, in epoch milliseconds. */
  now(): number {
    return this.#time.clock.now()
  }

  /** Sends an event by its type. `data` is `{}` by default. */
  send(type: string, data?: object, options?: OfAccount): Promise<Sent>
  /** Sends an event by its definition. `data` is what the service sends, before it is parsed. */
  send<Data>(type: EventDefinition<string, unknown, Data>, data: NoInfer<Data>, options?: OfAccount): Promise<Sent>
  /** Sends a complete event, such as one from {@link emitted}. Its id starts runs only once. */
  send(event: SentEvent): Promise<Sent>
  async send(
    what: string | EventDefinition | SentEvent,
    data: unknown = {},
    { account = DEFAULT_ACCOUNT }: OfAccount = {},
  ): Promise<Sent> {
    const event = this.#events.make(what, data, this.now())
    const runs = await this.#control.send(event, account, this.#workflows.planRuns(event.type))
    await this.#settle(runs)
    return { event, runs: runs.map((run) => this.#book.find(run)) }
  }

  /**
   * Posts a body to the real receiver, signed unless `options` say otherwise. Text and bytes are
   * sent as they are.
   */
  async deliver(body: string | Uint8Array | object, options: DeliverOptions = {}): Promise<TestDelivery> {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array
    const delivery = await this.#door.deliver(isRaw ? body : JSON.stringify(body), options)
    await this.settle()
    return delivery
  }

  /**
   * Triggers a tick of a cron workflow; the clock does not move. Returns the run of its first
   * account. Throws `invalid_request` for an invalid moment, and `conflict` if it had its runs.
   */
  async tick(
    workflow: WorkflowOrId,
    moment: string | number | Date = this.now(),
    { account }: OfAccount = {},
  ): Promise<TestRun> {
    const run = await this.#control.tick(this.#workflows.requireCron(workflow), readMoment(moment), account)
    await this.settle()
    return this.#book.find(run)
  }

  /** Moves the clock forward. Timers and cron ticks fire in order of time. */
  async advance(duration: Duration): Promise<void> {
    await this.#time.advance(duration, () => this.settle())
  }

  /** Starts a callable workflow, as `step.invoke` does. */
  async start<W extends AnyWorkflow>(
    workflow: W,
    input?: unknown,
    { account = DEFAULT_ACCOUNT }: OfAccount = {},
  ): Promise<TestRun<OutputOf<W>>> {
    const run = await this.#control.start(this.#workflows.require(workflow).id, input, account)
    await this.settle()
    return this.#book.find(run) as TestRun<OutputOf<W>>
  }

  /** Cancels a run with all that it invoked. Throws `conflict` for a finished one. */
  cancel(run: RunOrId, reason = 'by the test'): Promise<TestRun> {
    return this.#operate(run, (id) => this.#control.cancel(id, reason))
  }

  /** Retries a failed or canceled run from its failed step. Throws `conflict` for any other. */
  retry(run: RunOrId): Promise<TestRun> {
    return this.#operate(run, (id) => this.#control.retry(id))
  }

  /**
   * Resumes a run that waits for a person; `restart` discards its steps first. Throws `conflict`
   * for any other.
   */
  resume(run: RunOrId, { restart = false }: { restart?: boolean } = {}): Promise<TestRun> {
    return this.#operate(run, (id) => this.#control.resume(id, restart))
  }

  /** Makes a new run that keeps the results of the steps before `from`. */
  fork(run: RunOrId, options: ForkOptions): Promise<TestRun> {
    return this.#operate(run, (id) => this.#control.fork(id, options))
  }

  /** Pauses a workflow: its runs are held until `unpause`. */
  async pause(workflow: WorkflowOrId): Promise<void> {
    this.#hasPaused = true
    await this.#control.pause(this.#workflows.require(workflow).id)
    await this.settle()
  }

  /** Lets the runs of a paused workflow go on. */
  async unpause(workflow: WorkflowOrId): Promise<void> {
    await this.#control.unpause(this.#workflows.require(workflow).id)
    await this.settle()
  }

  /** Resolves when every run has ended or waits for time, an event or a person. */
  settle(): Promise<void> {
    return this.#settle(null)
  }

  /**
   * Kills the engine with its memory and starts another on the same store. `workflows` is the code
   * of the new one, as after a deployment; default: the same.
   */
  async restart({ workflows }: { workflows?: readonly AnyWorkflow[] } = {}): Promise<void> {
    this.#requireOpen()
    if (workflows) this.#workflows.deploy(workflows)
    await this.#engine.restart()
    await this.settle()
  }

  /** The newest run of a workflow, without those of `onFailure`. Throws `not_found`. */
  run<W extends WorkflowOrId>(workflow: W): TestRun<OutputOf<W>> {
    const { id } = this.#workflows.require(workflow)
    const run = this.#book.findNewest(id)
    if (run) return run as TestRun<OutputOf<W>>
    throw new UpshotError('not_found', `"${id}" has no run yet. Send an event that it runs on, or tick it.`)
  }

  /** All runs, or those of a workflow, oldest first; those of `onFailure` included. */
  runs<W extends WorkflowOrId>(workflow?: W): TestRun<OutputOf<W>>[] {
    return this.#book.list(workflow && this.#workflows.require(workflow).id) as TestRun<OutputOf<W>>[]
  }

  /** The finished steps of all runs that wrote or deleted something, in the order they finished. */
  effects(): TestEffect[] {
    return this.#book.listEffects(this.#engine.saved)
  }

  /** Schedules with moments to come, cron lines in code too; the next one first. */
  schedules(): Promise<TestSchedule[]> {
    return listTestSchedules(this.#store, this.now())
  }

  /** A storage of the sandbox. Its events reach workflows only through `send`. */
  storage(name: Parameters<Sandbox['storage']>[0]): TestStorage {
    return openTestStorage(async () => (await this.sandbox()).storage(name))
  }

  /** The sandbox, which starts with its first use. */
  sandbox(): Promise<Sandbox> {
    this.#requireOpen()
    return this.#service.sandbox()
  }

  /** The last event of a type that the sandbox emitted, to `send`. Throws `not_found`. */
  emitted(type: string): ServiceEvent {
    return this.#service.emitted(type)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close()
    await this.#closed
  }

  /** `fresh`: the only runs that were made beside the engine; null: any may have been. */
  async #settle(fresh: readonly string[] | null): Promise<void> {
    this.#requireOpen()
    await this.#engine.settle()
    const { ids, areAll } = this.#engine.takeTouched()
    const touched = { ids: new Set([...ids, ...(fresh ?? [])]), areAll: areAll || fresh === null || this.#hasPaused }
    await this.#book.refresh(this.#store, touched)
    this.#replaced.requireNames(this.#book.listEnded())
  }

  async #operate(run: RunOrId, perform: (id: string) => Promise<string>): Promise<TestRun> {
    const id = typeof run === 'string' ? run : run.id
    const shown = await perform(id)
    await this.settle()
    return this.#book.find(shown)
  }

  #requireOpen(): void {
    if (this.#closed) throw new UpshotError('not_running', 'The testbed is closed. Open another one.')
  }

  async #close(): Promise<void> {
    await this.#engine.kill()
    await this.#door.close()
    await this.#service.stop()
    await this.#store.close()
  }
}
