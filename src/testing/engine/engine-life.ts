import { describeWorkflow, isGated, planRoutes } from '../../author/read-workflow.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { type Failure, UpshotError } from '../../core/errors.ts'
import { type Callbacks, callbackUrl } from '../../core/incoming/hook.ts'
import type { NoticeOf, Publish } from '../../core/notices.ts'
import type { GuardPolicy } from '../../core/safety/guard.ts'
import type { Store } from '../../core/store/store.ts'
import { SHORT_STILL_MS } from '../../engine/execute/watch-replay.ts'
import { Outside } from '../../engine/pass/outside/outside.ts'
import { Worker } from '../../engine/worker.ts'
import type { FilesFor } from '../../engine/worker-parts.ts'
import { nextMomentOf } from '../../schedule/next-moment.ts'
import { Scheduler } from '../../schedule/scheduler.ts'
import type { VirtualTime } from '../world/virtual-time.ts'
import type { Activity } from './activity.ts'
import type { CrashPoint } from './crash-point.ts'
import { KillSwitch } from './kill-switch.ts'
import type { WorkUnderWay } from './work-under-way.ts'

export interface EngineParts {
  store: Store
  /** False where the store has to be told that workers are dead. */
  seesDeaths: boolean
  time: VirtualTime
  activity: Activity
  /** By id; read once by each life. */
  workflows: () => ReadonlyMap<string, AnyWorkflow>
  publish: Publish
  random: () => number
  slots: number
  /** Workers that share the store, as in several processes. */
  workers: number
  guard: GuardPolicy
  /** Whether passes that wait stay in memory. */
  cachePasses: boolean
  crash: CrashPoint | null
  work: WorkUnderWay
  /** Address and key of the URLs of hooks. */
  callbacks: Callbacks
  openFiles(): { filesFor: FilesFor; close(): Promise<void> }
}

/** The real worker and scheduler, as one process runs them. */
export class EngineLife {
  readonly killSwitch: KillSwitch
  /** The first fault that the engine published. */
  fault: { where: string; error: Failure } | null = null
  readonly #parts: EngineParts
  readonly #workers: readonly Worker[]
  readonly #scheduler: Scheduler
  readonly #cancelTimers: () => void
  #over: Promise<void> = Promise.resolve()
  readonly #closeFiles: () => Promise<void>

  constructor(parts: EngineParts) {
    this.#parts = parts
    const { random, slots, workers, crash, guard } = parts
    const passCache = parts.cachePasses ? { fromSteps: 0, maxAgeMs: Infinity } : { max: 0 }
    const workflows = parts.workflows()
    this.killSwitch = new KillSwitch(parts.store, parts.activity, parts.crash)
    this.killSwitch.onKill = () => this.#end()
    parts.work.onMiddle = (step) => crash?.decideCut(step) && this.killSwitch.kill()
    const { store } = this.killSwitch
    const { clock, cancelAll } = parts.time.openTimers()
    const { filesFor, close } = parts.openFiles()
    this.#cancelTimers = cancelAll
    this.#closeFiles = close
    const publish: Publish = (notice) => this.#publish(notice)
    const watched = new Map<string, AnyWorkflow>()
    const openWorker = () =>
      new Worker({
        store,
        clock,
        random,
        publish,
        filesFor,
        slots,
        guard,
        passCache,
        checkPlan: nextMomentOf,
        callbackUrl: (id) => callbackUrl(parts.callbacks, id),
        findWorkflow: (id) => {
          const workflow = workflows.get(id)
          const found = watched.get(id) ?? (workflow && parts.work.watch(workflow))
          if (found) watched.set(id, found)
          return found
        },
        admitsAhead: () => [...workflows.values()].some(isGated),
        routes: () => [...workflows.values()].flatMap(planRoutes),
        drainMs: 0,
        // This store has no other writer to poll for, and each poll would stop the clock.
        pollMs: Infinity,
        beatMs: Infinity,
        stillMs: SHORT_STILL_MS,
        reportsTimers: true,
        outside: new Outside({ publish, clock }),
        // Virtual time does not pass by itself.
        gatherMs: 0,
      })
    this.#workers = Array.from({ length: workers }, openWorker)
    this.#scheduler = new Scheduler({ store, clock, publish, maxSleepMs: Infinity })
  }

  /** Recovers the runs of earlier lives, however recent their heartbeat, and starts. */
  async start(): Promise<void> {
    const { store, time, workflows } = this.#parts
    const anyAge = -1
    await store.recoverRuns(time.clock.now(), anyAge)
    // The store starts workflows, too: on the events that it makes itself.
    const loaded = [...workflows().values()].map((workflow) => ({ file: '', ...describeWorkflow(workflow) }))
    await store.saveWorkflows({ workflows: loaded, broken: [] }, time.clock.now())
    for (const worker of this.#workers) await worker.start()
    this.#scheduler.start()
  }

  /** True while a run has a pass or a store call is pending. */
  get isBusy(): boolean {
    return !this.killSwitch.isKilled && (this.killSwitch.pending > 0 || this.atWork.length > 0)
  }

  get atWork(): string[] {
    return this.#workers.flatMap((worker) => worker.atWork)
  }

  /** A run with its last finished step, for error messages. */
  describe(run: string): string {
    const last = this.killSwitch.saved.findLast((step) => step.run === run)
    const place = last ? `behind its step "${last.key}",` : 'in its first step,'
    return `${this.killSwitch.workflowOf(run)} (${run}), ${place}`
  }

  wake(): void {
    for (const worker of this.#workers) worker.wake()
  }

  endPass(run: string): void {
    for (const worker of this.#workers) worker.endPass(run)
  }

  /** Ends this life as SIGKILL would. Resolves when no more calls go to the service. */
  async kill(): Promise<void> {
    this.killSwitch.kill()
    await this.#over
  }

  /** Throws the fault that the engine published, if any. */
  requireSound(): void {
    if (!this.fault) return
    const { where, error } = this.fault
    this.fault = null
    throw new UpshotError('internal', `The engine reported a fault in ${where}: ${error.message}`)
  }

  /**
   * Code within the process cannot be killed: it is told to stop and cut off from store and timers.
   */
  #end(): void {
    this.#cancelTimers()
    for (const run of this.atWork) this.endPass(run)
    void this.#scheduler.stop()
    this.#over = this.#closeFiles()
  }

  #publish(notice: Parameters<Publish>[0]): void {
    if (this.killSwitch.isKilled) return
    if (notice.kind === 'fault') this.fault ??= notice
    this.#parts.publish(notice)
    if (notice.kind === 'run.queued') this.wake()
    if (notice.kind === 'schedule.changed') this.#scheduler.wake()
    if (notice.kind === 'code.timer') warnOfTimer(notice)
    if (notice.kind === 'code.undeclared') warnOfEffect(notice)
    if (notice.kind === 'step.joined') warnOfJoin(notice)
    if (notice.kind === 'step.shared') warnOfSharing(notice)
    this.#parts.activity.stir()
  }
}

/** On the console, as Node warns: no virtual clock moves such a timer. */
function warnOfTimer({ workflow, place }: NoticeOf<'code.timer'>): void {
  process.emitWarning(
    `The code of "${workflow}" sets a timer outside steps${place === null ? '' : ` at ${place}`}. ` +
      'Use step.sleep, or put it into a step.',
    { code: 'UPSHOT_TIMER' },
  )
}

/** A replay would do it again, and nothing knows of it. */
function warnOfEffect({ workflow, call, step, place, where }: NoticeOf<'code.undeclared'>): void {
  // A test has real files beside it, and its workflows may start programs.
  if (where === 'unseen') return
  const beyond = step === null ? 'outside steps' : `beyond what its step "${step}" declares`
  process.emitWarning(
    `The code of "${workflow}" calls ${call} ${beyond}${place === null ? '' : ` at ${place}`}. ` +
      'Put it into a step that declares its effect.',
    { code: 'UPSHOT_EFFECT' },
  )
}

/** The run ends well, even where this step fails. */
function warnOfJoin({ workflow, step, place }: NoticeOf<'step.joined'>): void {
  process.emitWarning(
    `The code of "${workflow}" returned before its step "${step}"${place === null ? '' : ` at ${place}`} had ended. ` +
      'Await every step.',
    { code: 'UPSHOT_STEP' },
  )
}

/** Code that reaches its branches in another order gives each the result of the other. */
function warnOfSharing({ workflow, step }: NoticeOf<'step.shared'>): void {
  process.emitWarning(
    `Two branches of "${workflow}" use the step name "${step}" at the same time. Give each its key, as [name, key].`,
    { code: 'UPSHOT_STEP' },
  )
}
