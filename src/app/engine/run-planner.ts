import { UpshotError } from '../../core/errors.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import { type EffectsSwitch, modeAt } from '../../core/safety/stop.ts'
import { DEFAULT_ACCOUNT } from '../../core/service/account.ts'
import { listSwitches } from '../../core/store/list-switches.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import { whyOf } from '../../engine/preview/previewed.ts'
import type { Planner } from '../../engine/worker-parts.ts'
import { describeEnd, sumEffects } from '../preview/describe-preview.ts'
import { type IsolatedProcess, openIsolated, type PreviewedJob } from '../preview/isolated-process.ts'
import { failedPreview, isEndOfProcess } from '../preview/lasting-process.ts'
import { openReads } from '../preview/planned-files.ts'
import type { AccountClients } from '../service/account-clients.ts'
import type { HandedConfig } from './engine-config.ts'

interface RunPlannerParts {
  config: Pick<HandedConfig, 'workflowsDir' | 'guardPolicy' | 'trustsReads' | 'effects' | 'limits'>
  store: Store
  clock: Clock
  /** For reads only. */
  clients: Pick<AccountClients, 'clientOf' | 'spellingsOf' | 'stop'>
  /** Longest time without an answer before code counts as blocking its process. Default 30 s. */
  patienceMs?: number
  /** Longest time for a plan. Default 15 min. */
  longestMs?: number
}

/** Longest time for a plan. Code that waits for ever keeps no slot for longer. */
const MAX_MS = 15 * 60_000
/** Switches are read again after so long, sooner than a silent process counts as gone. */
const SWITCHES_FOR_MS = 10_000
const TOO_LONG = 'Planning took too long: the code waits for something outside its steps, or reads without end.'

/**
 * Plans runs in an isolated process in place of their code. A run is planned where it was made
 * while effects were only planned, even if they are live by now. See decision 88.
 */
export class RunPlanner implements Planner {
  readonly acts: boolean
  readonly #parts: RunPlannerParts
  readonly #over = new AbortController()
  #switches: readonly EffectsSwitch[] = []
  #readAt = 0
  #isolated: Promise<IsolatedProcess> | null = null
  readonly #opened = new Set<IsolatedProcess>()
  /** Plans whose isolated process has ended: each runs again in a process of its own, in turn. */
  #alone: Promise<unknown> = Promise.resolve()

  constructor(parts: RunPlannerParts) {
    this.#parts = parts
    this.acts = parts.config.effects === 'live'
  }

  /** Reads since when effects are planned, or live. */
  async start(): Promise<void> {
    const readAt = this.#parts.clock.now()
    this.#switches = await listSwitches(this.#parts.store)
    this.#readAt = readAt
  }

  /** A process that was frozen counts as gone, so that another mode may have begun meanwhile. */
  isPlanned({ createdAt }: ClaimedRun): boolean | Promise<boolean> {
    const isFresh = Math.abs(this.#parts.clock.now() - this.#readAt) < SWITCHES_FOR_MS
    const answer = () => modeAt(this.#switches, createdAt) === 'plan'
    return isFresh ? answer() : this.start().then(answer)
  }

  async plan(run: ClaimedRun): Promise<{ reason: string; json: string }> {
    const plan = (await this.#previewBesideOthers(run)) ?? (await this.#previewAlone(run))
    return { reason: describePlan(plan), json: JSON.stringify(plan) }
  }

  /** The code has changed: plans load it again, and those at work begin anew. */
  reload(): void {
    const isolated = this.#isolated
    this.#isolated = null
    void isolated?.then((opened) => this.#close(opened)).catch(() => {})
  }

  async stop(): Promise<void> {
    this.#over.abort(new UpshotError('draining', 'The process stops.'))
    await this.#isolated?.catch(() => {})
    await Promise.all([...this.#opened].map((isolated) => this.#close(isolated)))
    await this.#parts.clients.stop()
  }

  /**
   * Null where the isolated process ended meanwhile. Rejects where the store fails, or no isolated
   * process can be had.
   */
  async #previewBesideOthers(run: ClaimedRun): Promise<PreviewedJob | null> {
    this.#isolated ??= this.#open()
    const opening = this.#isolated
    const forget = () => {
      if (this.#isolated === opening) this.#isolated = null
    }
    const isolated = await opening.catch((error: unknown) => {
      forget()
      throw error
    })
    const plan = await this.#preview(isolated, run)
    if (plan === null) forget()
    return plan
  }

  /** Ends of a shared process prove nothing. A run that ends a process of its own is to blame. */
  #previewAlone(run: ClaimedRun): Promise<PreviewedJob> {
    const turn = this.#alone.then(async () => {
      const isolated = await this.#open()
      const plan = await this.#preview(isolated, run).finally(() => this.#close(isolated))
      return plan ?? failedPreview(new Error('The code ended the process that planned it, or blocked it.'))
    })
    this.#alone = turn.catch(() => {})
    return turn
  }

  /** Null where the isolated process ends before the plan does. */
  async #preview(isolated: IsolatedProcess, claim: ClaimedRun): Promise<PreviewedJob | null> {
    const { store, clock, longestMs = MAX_MS } = this.#parts
    const use = await store.listGuardUse(clock.now())
    const late = Promise.withResolvers<PreviewedJob>()
    const timer = setTimeout(() => late.resolve(failedPreview(new Error(TOO_LONG))), longestMs)
    // Those that a fork keeps.
    const steps = claim.isFirstPass ? [] : await store.listSteps(claim.lease.runId)
    const plan = isolated
      .previewOne({ claim, steps }, { readsLive: true, plans: { use, borrows: true } })
      .catch((error: unknown) => (isEndOfProcess(error) ? null : failedPreview(error)))
    return Promise.race([plan, late.promise]).finally(() => clearTimeout(timer))
  }

  async #close(isolated: IsolatedProcess): Promise<void> {
    this.#opened.delete(isolated)
    await isolated[Symbol.asyncDispose]()
  }

  async #open(): Promise<IsolatedProcess> {
    const { config, store, clock, clients, patienceMs } = this.#parts
    this.#over.signal.throwIfAborted()
    const isolated = await openIsolated(store, config, {
      own: await clients.spellingsOf(DEFAULT_ACCOUNT),
      readFiles: openReads(clients, { clock, signal: this.#over.signal, longestMs: MAX_MS / 3 }),
      onPrint: (text) => process.stdout.write(text),
      ...(patienceMs === undefined ? {} : { patienceMs }),
    })
    this.#opened.add(isolated)
    return isolated
  }
}

/** How the run would end and what it would do, in a sentence without its subject. */
function describePlan({ end, effects, held, undeclared }: PreviewedJob): string {
  const [would, why] = [describeEnd(end), whyOf(end)]
  const counts = [
    sumEffects([{ effects }]).words,
    ...(held.length > 0 ? [`${held.length} held by the guard`] : []),
    ...(undeclared.length > 0 ? [`${undeclared.length} refused outside its steps`] : []),
  ]
  return `would ${would}${why === null ? '' : ` (${why.slice(0, 300)})`}: ${counts.join(', ')}; nothing was done`
}
