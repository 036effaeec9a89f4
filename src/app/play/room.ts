import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { MAX_LOAD_MS } from '../../core/blockage.ts'
import { describeError, type Failure, UpshotError } from '../../core/errors.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import type { WorkflowMatch } from '../../core/incoming/event-match.ts'
import type { Recording } from '../../core/runs/claim.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import type { Starts } from '../../core/safety/differences/difference.ts'
import type { GuardPolicy, WorkflowLimits } from '../../core/safety/guard.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { after, type Clock, systemClock } from '../../core/time.ts'
import type { UndeclaredEffect } from '../../engine/pass/outside/undeclared.ts'
import type { AnswerRules } from '../../engine/play/compose-answers.ts'
import type { Fit } from '../../engine/play/fit-recording.ts'
import type { PlayedRecording, RecordedRun } from '../../engine/play/play-recorded.ts'
import { openEnvironment } from '../../project/config/environment.ts'
import type { SkippedModule } from '../../project/workflows/load-workflows.ts'
import { Link, type LinkMessage, postMessage } from './link.ts'
import { borrowResult } from './plan-event.ts'
import type { ReadFiles } from './planned-files.ts'
import type { PlannedRun, PlanRequest } from './play-plan.ts'
import type { FileCoverage } from './start-coverage.ts'

/** The project, as a room is told of it. It gets no key and no address. */
export interface RoomSettings {
  workflowsDir: string
  guard: GuardPolicy
  /** Most steps of a run whose workflow sets no limit. Default 100,000. */
  maxSteps?: number
  /** How the service spells the storages, by account. */
  spellings: Record<string, StorageSpellings>
  /** Whether the lines that run are noted. Default false. */
  notesLines?: boolean
  /** Whether steps that read may send what cannot be judged, such as a POST. Default false. */
  trustsReads?: boolean
}

/** The author's code in a room. */
export interface LoadedCode {
  /** `guard`: the bounds that a workflow sets for itself. */
  workflows: { id: string; file: string; codeHash: string; guard: WorkflowLimits | undefined; starts: Starts }[]
  broken: { file: string; error: Failure }[]
  /** Calls of the modules while they were loaded; they were refused. */
  undeclared: UndeclaredEffect[]
}

/** How a run would go on, with the calls of its code that were refused. */
export type RoomFit = Fit & { undeclared: UndeclaredEffect[] }

/** A planned run, with the calls of its code that were refused. */
export type RoomPlan = PlannedRun & { undeclared: UndeclaredEffect[] }

/** A recorded run to play; twice, to see whether it is steady. */
export interface PlayJob extends RecordedRun {
  isTwice: boolean
}

/** The end of a job, with the calls of its code that were refused. */
export interface PlayedJob extends PlayedRecording {
  /** False where two plays of it differ. */
  isSteady: boolean
  undeclared: UndeclaredEffect[]
}

interface RoomParts {
  settings: RoomSettings
  store: Pick<ReadStore, 'listDeletes' | 'listRunEvents' | 'readOutput' | 'listRuns' | 'listSteps'>
  /** Reads the service for plans. Default: no play may. */
  readFiles?: ReadFiles
  /** Tells how long an answer takes. Default: that of the machine. */
  clock?: Clock
  /** Gets what the author's code prints. */
  onPrint?: (text: string) => void
  /** Longest time without an answer before it counts as hanging. Default 30 s; aside 5 min. */
  patienceMs?: number
  /** It plays beside live work, in 512 MB of heap at most. Default false. */
  isAside?: boolean
  /** Ends the process, also while its code is loaded. */
  signal?: AbortSignal
}

const PATIENCE_MS = 30_000
/** Time beyond its own for a module that loads: its process gives up an await by itself. */
const LOAD_GRACE_MS = 1_000
/** Its process may have a low priority: then a healthy room is silent for long. */
const ASIDE_PATIENCE_MS = 300_000

/** A room's own rights: it reads files, to load code. A small young generation saves 100 MB. */
const RIGHTS = ['--permission', '--allow-fs-read=*', '--no-warnings', '--max-semi-space-size=8']

/**
 * A process in which author's code has no reach: it runs without keys, and every way out is closed.
 * A seat belt, no jail. See decision 71.
 */
export class Room implements AsyncDisposable {
  readonly code: LoadedCode
  readonly settings: RoomSettings
  readonly #child: ChildProcess
  readonly #link: Link
  readonly #patienceMs: number
  readonly #clock: Clock
  #atWork = 0
  #cancelWatch = () => {}

  /**
   * Starts the process and loads the project's workflows there. Another process takes its place
   * without each module that ends or blocks it.
   */
  static async open(parts: RoomParts): Promise<Room> {
    const skipped: SkippedModule[] = []
    for (;;) {
      const opened = await Room.#load(parts, skipped)
      if (opened instanceof Room) return opened
      skipped.push(opened)
    }
  }

  static async #load(
    { settings, store, ...parts }: RoomParts,
    skipped: SkippedModule[],
  ): Promise<Room | SkippedModule> {
    const { onPrint = () => {}, readFiles = refuseFiles, isAside = false, clock = systemClock } = parts
    const { patienceMs = isAside ? ASIDE_PATIENCE_MS : PATIENCE_MS } = parts
    const child = fork(pathOf('room-main'), {
      // The inspector notes lines; it cannot be opened to the network.
      execArgv: [
        ...RIGHTS,
        ...(isAside ? ['--max-old-space-size=512'] : []),
        ...(settings.notesLines ? ['--allow-inspector'] : []),
        '--import',
        pathToFileURL(pathOf('hooks/room-hooks')).href,
      ],
      env: roomEnvironment(),
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    parts.signal?.addEventListener('abort', () => child.kill('SIGKILL'))
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', onPrint)
    const { listDeletes, listRunEvents, readOutput } = store
    const state: { loading: Omit<SkippedModule, 'why'> | null } = { loading: null }
    const link = new Link((message) => postMessage(child, message), {
      ...{ listDeletes, listRunEvents, readOutput, readFiles },
      pulse: () => {},
      loading: (module: typeof state.loading) => {
        state.loading = module
        watch()
      },
      borrow: (workflow: string, step: Checkpoint) => borrowResult(store, workflow, step),
    })
    child.on('message', (message: LinkMessage) => link.receive(message))
    child.on('error', (error) => link.end(describeEnd(error.message)))
    child.on('exit', (status, signal) => link.end(describeEnd(signal ?? `exit code ${status}`)))
    let cancel = () => {}
    const watch = () => {
      cancel()
      const ms = state.loading === null || isAside ? patienceMs : Math.min(patienceMs, MAX_LOAD_MS + LOAD_GRACE_MS)
      cancel = after(clock, ms, () => link.end(describeEnd(describeSilence(ms))))
    }
    watch()
    try {
      const code = await link.call<LoadedCode>('load', settings, skipped)
      return new Room({ child, link, patienceMs, clock, settings, code })
    } catch (error) {
      child.kill('SIGKILL')
      if (state.loading === null || parts.signal?.aborted === true) throw error
      return { ...state.loading, why: describeError(error).message.replace(/\.$/, '') }
    } finally {
      cancel()
    }
  }

  private constructor(parts: {
    child: ChildProcess
    link: Link
    patienceMs: number
    clock: Clock
    settings: RoomSettings
    code: LoadedCode
  }) {
    this.settings = parts.settings
    this.#child = parts.child
    this.#link = parts.link
    this.#patienceMs = parts.patienceMs
    this.#clock = parts.clock
    this.code = parts.code
    this.#link.onMove = () => this.#watch()
  }

  /** The process is gone, or is given up: no call is answered any more. */
  get hasEnded(): boolean {
    return this.#link.hasEnded
  }

  /** How a run would go on with the code of this room at `now`. */
  fit(recording: Recording, now: number): Promise<RoomFit> {
    return this.#ask('fit', recording, now)
  }

  /** Plans a run: real reads, and no effect. Throws `not_found` without its workflow. */
  plan(request: PlanRequest): Promise<RoomPlan> {
    return this.#ask('plan', request)
  }

  /** Asks the workflows of this room about an event, and starts nothing. */
  match(event: EventRecord, now: number): Promise<WorkflowMatch[]> {
    return this.#ask('match', event, now)
  }

  /** Plays recorded runs of a workflow, in the order of the jobs. Throws `not_found` without it. */
  playAll(workflow: string, jobs: readonly PlayJob[], rules: AnswerRules): Promise<PlayedJob[]> {
    return this.#ask('playAll', workflow, jobs, rules)
  }

  /** The code that has run, where the settings ask for it; else none. */
  readLines(): Promise<FileCoverage[]> {
    return this.#ask('readLines')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cancelWatch()
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill('SIGKILL')
    await ended
  }

  async #ask<T>(name: string, ...given: unknown[]): Promise<T> {
    this.#atWork += 1
    this.#watch()
    try {
      return await this.#link.call<T>(name, ...given)
    } finally {
      this.#atWork -= 1
      this.#watch()
    }
  }

  /** Each message shows that the room lives; without one for long, its code blocks it. */
  #watch(): void {
    this.#cancelWatch()
    if (this.#atWork === 0 || this.#link.isServing) return
    this.#cancelWatch = after(this.#clock, this.#patienceMs, () => this.#giveUp())
  }

  #giveUp(): void {
    this.#link.end(describeEnd(describeSilence(this.#patienceMs)))
    this.#child.kill('SIGKILL')
  }
}

async function refuseFiles(): Promise<never> {
  throw new Error('This room has no Files client.')
}

/** A file beside this one, with the same ending: source here, JavaScript in the package. */
function pathOf(name: string): string {
  return fileURLToPath(import.meta.url.replace(/room(\.\w+)$/, `${name}$1`))
}

/** Neither the service's keys, nor our own, nor options that open what the room closes. */
export function roomEnvironment(): NodeJS.ProcessEnv {
  const closed = /^(SERVICE_|UPSHOT_|NODE_(?!COMPILE_CACHE))/
  return Object.fromEntries(Object.entries(openEnvironment()).filter(([name]) => !closed.test(name)))
}

function describeSilence(ms: number): string {
  return `no answer within ${ms} ms: code of a workflow does not come to rest`
}

function describeEnd(why: string): UpshotError {
  return new UpshotError('internal', `The process that plays workflows has ended: ${why}.`)
}
