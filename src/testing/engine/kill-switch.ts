import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { MatchResult } from '../../core/runs/matching.ts'
import type { Store } from '../../core/store/store.ts'
import type { Activity } from './activity.ts'
import type { CrashPoint } from './crash-point.ts'

/** Names of calls that only read. */
const READING = /^(has|find|list|count|tally|next|read|pack|load|search|group)/
/** Writes outside the journal: workers, deliveries and schedules. */
const BESIDE_THE_JOURNAL: ReadonlySet<keyof Store> = new Set([
  'saveDelivery',
  'saveRefusal',
  'addEndpoint',
  'updateEndpoint',
  'relookSchedules',
  'lookAtSchedule',
  'noteMissed',
  'close',
  'startWorker',
  'beatWorker',
  'recoverRuns',
  'stopWorker',
  'claimRuns',
  'claimUnadmittedRuns',
  'carryOutDecision',
  'saveLimit',
  'saveProgress',
  'saveRunLog',
])

/**
 * Writes that change no other run than those that were or will be claimed. After any other write,
 * all runs are read again.
 */
const OF_CLAIMED_RUNS: ReadonlySet<string> = new Set([
  'endPlanned',
  'saveCheckpoint',
  'completeRun',
  'failRun',
  'skipRun',
  'parkRun',
  'postponeRun',
  'releaseRun',
  'saveTags',
  'saveMatches',
  'openMatchCursor',
  'watchRun',
  'claimRuns',
  'claimUnadmittedRuns',
] satisfies (keyof Store)[])

type Method = (...args: unknown[]) => Promise<unknown>

/** The runs that may have changed since the last moment of rest. */
export interface TouchedRuns {
  ids: ReadonlySet<string>
  /** True when others than these may have changed, too. */
  areAll: boolean
}

/**
 * Stands between one life of the engine and the store. After `kill`, no call gets an answer, not
 * even a pending one.
 */
export class KillSwitch {
  readonly store: Store
  /** Number of passes by run, since the engine last began to work. */
  readonly passes = new Map<string, number>()
  /** Journal writes and claims. While it rises, the engine is not at rest. */
  moves = 0
  /** Run and key of each saved checkpoint, in order. */
  readonly saved: { run: string; key: string }[] = []
  /** Ids of the workers that started. */
  readonly workers: string[] = []
  /** Calls without an answer. */
  pending = 0
  #touched = new Set<string>()
  #areAllTouched = false
  /** Called once, by `kill`. */
  onKill = () => {}
  #isKilled = false
  readonly #activity: Activity
  readonly #crash: CrashPoint | null
  readonly #workflows = new Map<string, string>()

  constructor(store: Store, activity: Activity, crash: CrashPoint | null) {
    this.#activity = activity
    this.#crash = crash
    const methods = Object.entries(store).map(([name, method]) => [
      name,
      (...args: unknown[]) => this.#call(name as keyof Store, method as Method, args),
    ])
    this.store = Object.fromEntries(methods)
  }

  get isKilled(): boolean {
    return this.#isKilled
  }

  /** The runs that may have changed since the last call. */
  takeTouched(): TouchedRuns {
    const touched = { ids: this.#touched, areAll: this.#areAllTouched }
    this.#touched = new Set()
    this.#areAllTouched = false
    return touched
  }

  workflowOf(run: string): string {
    return this.#workflows.get(run) ?? 'a run'
  }

  /** From now on, no call reaches the store and no answer reaches the engine. */
  kill(): void {
    if (this.#isKilled) return
    this.#isKilled = true
    this.onKill()
    this.#activity.stir()
  }

  async #call(name: keyof Store, method: Method, args: unknown[]): Promise<unknown> {
    if (this.#isKilled) return neverSettles()
    const fate = this.#decideFate(name, args)
    if (fate !== 'no crash') this.kill()
    if (fate === 'lost') return neverSettles()
    const answer = await this.#perform(name, method, args).then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error
      },
    )
    return this.#isKilled ? neverSettles() : answer()
  }

  async #perform(name: keyof Store, method: Method, args: unknown[]): Promise<unknown> {
    this.pending += 1
    try {
      const value = await method(...args)
      this.#note(name, args, value)
      return value
    } finally {
      this.pending -= 1
      this.#activity.stir()
    }
  }

  #decideFate(name: keyof Store, args: readonly unknown[]) {
    if (!isJournalWrite(name)) return 'no crash'
    return this.#crash?.decideFate(describeWrite(name, args, this.#workflows)) ?? 'no crash'
  }

  #note(name: keyof Store, args: readonly unknown[], value: unknown): void {
    if (isJournalWrite(name)) this.moves += 1
    this.#areAllTouched ||= mayChangeOthers(name, args, value)
    if (name === 'claimRuns' || name === 'claimUnadmittedRuns')
      for (const run of value as ClaimedRun[]) this.#noteClaim(run)
    if (name === 'startWorker') this.workers.push(String(args[0]))
    if (name !== 'saveCheckpoint') return
    const [lease, step] = args as Parameters<Store['saveCheckpoint']>
    this.saved.push({ run: lease.runId, key: step.key })
  }

  #noteClaim({ lease, workflow }: ClaimedRun): void {
    this.moves += 1
    this.#touched.add(lease.runId)
    this.passes.set(lease.runId, (this.passes.get(lease.runId) ?? 0) + 1)
    this.#workflows.set(lease.runId, workflow)
  }
}

function mayChangeOthers(name: keyof Store, args: readonly unknown[], value: unknown): boolean {
  if (READING.test(name) || name === 'beatWorker' || name === 'saveLimit' || name === 'saveRunLog') return false
  if (name === 'saveMatches') return (value as MatchResult).canceled.length > 0
  if (name === 'saveCheckpoint') return (args as Parameters<Store['saveCheckpoint']>)[3]?.cancel !== undefined
  return !OF_CLAIMED_RUNS.has(name) || value === false
}

function isJournalWrite(name: keyof Store): boolean {
  return !READING.test(name) && !BESIDE_THE_JOURNAL.has(name)
}

/** Such as `saveCheckpoint of step "notify" in verify-transfer`. */
function describeWrite(name: string, [lease, second]: readonly unknown[], workflows: ReadonlyMap<string, string>) {
  const step = isRecord(second) && typeof second.key === 'string' ? ` of step "${second.key}"` : ''
  const workflow = isRecord(lease) ? workflows.get(String(lease.runId)) : undefined
  return `${name}${step}${workflow === undefined ? '' : ` in ${workflow}`}`
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function neverSettles(): Promise<never> {
  return new Promise(() => {})
}
