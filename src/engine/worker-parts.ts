import type { AnyWorkflow } from '../author/workflow.ts'
import type { EventRecord } from '../core/incoming/event.ts'
import type { Route } from '../core/incoming/route.ts'
import type { Caller, Publish } from '../core/notices.ts'
import type { ClaimedRun } from '../core/runs/claim.ts'
import type { SchedulePlan } from '../core/runs/schedule.ts'
import type { GuardPolicy } from '../core/safety/guard.ts'
import type { CallingRun, OutsideCall } from '../core/safety/ledger/outside-act.ts'
import type { FilesApi, WrapCall } from '../core/service/files-api.ts'
import type { StorageSpellings } from '../core/service/storage.ts'
import type { Store } from '../core/store/store.ts'
import type { Clock } from '../core/time.ts'

/** Gives the Files client of an account; each of its calls runs inside `wrap`. */
export type FilesFor = (account: string, wrap: WrapCall) => FilesApi

/** How the service spells the storages of an account. */
type SpellingsOf = (account: string) => StorageSpellings | Promise<StorageSpellings>

/** Sees what authors' code does past the guard and the ledger. */
export interface OutsideWatch {
  /** A call that is made now; `by` is null while modules are loaded. */
  see(by: CallingRun | null, made: OutsideCall): void
  /** Throws where code of a run deletes at the service with a client that is not the run's. */
  askDelete(by: CallingRun, host: string): void
  /** Resolves when every row is written. */
  settled(): Promise<void>
}

/** Bounds of the passes that one worker keeps. */
export interface PassCacheLimits {
  /** Steps from which a pass is cached: shorter journals are replayed in no time. Default 32. */
  fromSteps?: number
  /** Most passes; 0: none. Default 100. */
  max?: number
  /** Most bytes, as far as they can be told. Default 32 MiB. */
  maxBytes?: number
  /** Longest time for which a pass is cached. Default 60 s. */
  maxAgeMs?: number
}

/** Plans the runs that must not act. */
export interface Planner {
  /** False where this worker only plans: a run that was made to act waits for another one. */
  acts: boolean
  /** True for a run that was made while effects were only planned. */
  isPlanned: (run: ClaimedRun) => boolean | Promise<boolean>
  /** Finds the effects and the end of a run, as JSON text and in a sentence. Acts by reads only. */
  plan: (run: ClaimedRun) => Promise<{ reason: string; json: string }>
}

/** Everything that a worker is given. Its parts take a `Pick` of this. */
export interface WorkerParts {
  store: WorkerStore
  clock: Clock
  /** In [0, 1). */
  random: () => number
  publish: Publish
  findWorkflow: (id: string) => AnyWorkflow | undefined
  filesFor: FilesFor
  /**
   * Which event types start which workflows. An event that a step sends starts its runs by these.
   */
  routes: () => Promise<readonly Route[]> | readonly Route[]
  /** Bounds what runs may delete and write. */
  guard: GuardPolicy
  /** Most steps of a run whose workflow sets no limit of its own. Default 100,000. */
  maxSteps?: number
  /** Default: our own names. */
  spellingsOf?: SpellingsOf
  /** The URL of a hook, by its id. Undefined where no sender reaches this app. */
  callbackUrl?: (id: string) => string | undefined
  /** Throws `invalid_workflow` for a bad cron line or an unknown zone. */
  checkPlan?: (plan: SchedulePlan) => void
  /** Calls the function of a step in the context of its span. Default: just calls it. */
  runInSpan?: <T>(caller: Caller, call: () => T) => T
  /** Maximum number of passes at a time. */
  slots: number
  /** Whether a workflow limits its runs: then new runs are admitted even while no slot is free. */
  admitsAhead?: () => boolean
  /**
   * Whether it claims suspects, which may have ended their workers. `never`: a quarantine tries
   * them; `only`: this is one. Default `when_idle`: one while no other run is at work.
   */
  suspects?: 'never' | 'only' | 'when_idle'
  /** With `only`: how long a suspect is alone before others begin beside it. Default 10 s. */
  aloneMs?: number
  /** True once the process that this one serves is gone: no step begins then. Default: never. */
  isOrphan?: () => boolean
  /** How long `Worker.stop` waits for steps at work before it ends their passes. */
  drainMs: number
  /** How often the worker claims without being woken. Default 1 s. */
  pollMs?: number
  /** How often the worker says that it is alive. Default 5 s. */
  beatMs?: number
  /**
   * Time within which many wake-ups of one run are one pass; 0: each is one. Default 100 ms.
   */
  gatherMs?: number
  /**
   * The made-up event that told of the same file before; null: none. Default: no event is made up.
   */
  findMadeUp?: (event: EventRecord) => Promise<string | null>
  /** Default: every run acts. */
  planner?: Planner
  /** Bounds what waits in memory; see decision 65. */
  passCache?: PassCacheLimits
  /** Tells timers of the code's own, outside steps. Default false. */
  reportsTimers?: boolean
  /** Sees what its code does past the guard and the ledger. Default: nobody does. */
  outside?: OutsideWatch
  /**
   * Real time without movement after which code that calls an unexpected step has diverged. Default
   * 5 s.
   */
  stillMs?: number
}

type WorkerStore = Pick<
  Store,
  | 'startWorker'
  | 'beatWorker'
  | 'recoverRuns'
  | 'carryOutDecision'
  | 'stopWorker'
  | 'listLeases'
  | 'saveDelivery'
  | 'claimRuns'
  | 'claimUnadmittedRuns'
  | 'claimSuspects'
  | 'hasSuspects'
  | 'nextDueAt'
  | 'listDeletes'
  | 'listRunEvents'
  | 'hasNewerFolded'
  | 'admitRun'
  | 'listSteps'
  | 'saveCheckpoint'
  | 'saveProgress'
  | 'saveTags'
  | 'beginEffects'
  | 'beginPart'
  | 'noteSeen'
  | 'reserveEffects'
  | 'readOutput'
  | 'packOutput'
  | 'findMatch'
  | 'findQuestion'
  | 'listVotes'
  | 'listApprovers'
  | 'listApprovalItems'
  | 'listStops'
  | 'findSchedule'
  | 'findRun'
  | 'findInvoked'
  | 'listEndedWaits'
  | 'watchRun'
  | 'cancelRun'
  | 'completeRun'
  | 'continueRun'
  | 'failRun'
  | 'parkRun'
  | 'postponeRun'
  | 'skipRun'
  | 'endPlanned'
  | 'releaseRun'
  | 'listMatchCursors'
  | 'listEventsAfter'
  | 'openMatchCursor'
  | 'saveMatches'
>

/** The writes about steps that a pass makes. */
export type JournalStore = Pick<
  WorkerParts['store'],
  'saveCheckpoint' | 'saveProgress' | 'saveTags' | 'beginEffects' | 'beginPart' | 'noteSeen' | 'reserveEffects'
>
