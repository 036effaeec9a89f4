import { type Failure, UpshotError } from '../core/errors.ts'
import type { NoticeOf } from '../core/notices.ts'
import type { Progress } from '../core/runs/annotations/progress.ts'
import type { Run, RunHandler, RunStatus } from '../core/runs/run.ts'
import type { Checkpoint, Effect, StepStatus } from '../core/runs/step.ts'
import type { ReadStore } from '../core/store/store.ts'
import type { TouchedRuns } from './engine/kill-switch.ts'
import type { SentEvent } from './world/test-events.ts'

/** An event with the runs that it started. */
export interface Sent {
  event: SentEvent
  runs: TestRun[]
}

/** A snapshot of a run. */
export interface TestRun<Output = unknown> {
  id: string
  workflow: string
  /** The account that it acts for. */
  account: string
  /** The function that this run executes. A run of `onFailure` follows a failed run of `run`. */
  handler: RunHandler
  status: RunStatus
  /** Why it waits, was skipped or was canceled. Null otherwise. */
  reason: string | null
  /** When it continues, in epoch milliseconds. Null unless it waits for a moment. */
  dueAt: number | null
  /** The value it returned, read back from its JSON. Null until it is completed. */
  output: Output | null
  error: Failure | null
  /** Its tags by name, with their values as text; empty without any. */
  tags: Readonly<Record<string, string>>
  /** Its newest word for how far it has come; null where it said nothing. */
  progress: Pick<Progress, 'done' | 'total' | 'failed' | 'note'> | null
  /** Its steps, in the order in which they first started. */
  steps(): TestStep[]
  /** Its log lines, in order. */
  logs(): TestLog[]
}

/** A step of a run. */
export interface TestStep {
  /** `name`, `name[key]`, or `name#2` for the second step of that name. */
  key: string
  effect: Effect
  status: StepStatus
  /** The value it returned. Null until it is completed. */
  output: unknown
  error: Failure | null
  /** The attempts so far, without those that did not count. */
  attempt: number
  /** The target of the step, such as `storage_a:fil_1`. Null if it names none. */
  target: string | null
}

/** A step that wrote or deleted, with its run. */
export interface TestEffect extends TestStep {
  run: string
  workflow: string
}

/** A line that a run logged. */
export type TestLog = Pick<NoticeOf<'run.log'>, 'level' | 'message' | 'facts'>

const EVERY_RUN = Number.MAX_SAFE_INTEGER

/** Runs, steps and log lines at the last moment of rest. */
export class RunBook {
  /** By id, oldest first. */
  readonly #runs = new Map<string, Run>()
  readonly #steps = new Map<string, Checkpoint[]>()
  readonly #logs = new Map<string, TestLog[]>()

  /** Reads the runs that may have changed, so that the cost does not grow with all runs. */
  async refresh(store: ReadStore, { ids, areAll }: TouchedRuns): Promise<void> {
    const found = areAll ? (await store.listRuns({ limit: EVERY_RUN })).reverse() : await readRuns(store, ids)
    const fresh = found.filter(({ id }) => !this.#runs.has(id)).map(({ id }) => id)
    for (const run of found) this.#runs.set(run.id, run)
    for (const id of new Set([...ids, ...fresh])) this.#steps.set(id, await store.listSteps(id))
  }

  note({ run, level, message, facts }: NoticeOf<'run.log'>): void {
    this.#logs.set(run, [...(this.#logs.get(run) ?? []), { level, message, facts }])
  }

  list(workflow?: string): TestRun[] {
    const runs = [...this.#runs.values()].filter((run) => workflow === undefined || run.workflow === workflow)
    return runs.map((run) => this.#describe(run))
  }

  /** The newest run of a workflow's `run`. */
  findNewest(workflow: string): TestRun | null {
    const newest = [...this.#runs.values()].findLast((run) => run.workflow === workflow && run.handler === 'run')
    return newest ? this.#describe(newest) : null
  }

  find(id: string): TestRun {
    const run = this.#runs.get(id)
    if (!run) throw new UpshotError('not_found', `There is no run ${id}.`)
    return this.#describe(run)
  }

  /** Workflows with a run of their `run` that has completed or failed. */
  listEnded(): Set<string> {
    const ended = [...this.#runs.values()].filter(({ status }) => status === 'completed' || status === 'failed')
    return new Set(ended.map(({ workflow }) => workflow))
  }

  /** Finished steps except reads, in the order of `saved`. */
  listEffects(saved: readonly { run: string; key: string }[]): TestEffect[] {
    const order = new Map(saved.map(({ run, key }, index) => [`${run} ${key}`, index]))
    const place = ({ run, key }: TestEffect) => order.get(`${run} ${key}`) ?? -1
    return this.list()
      .flatMap(({ id, workflow, steps }) => steps().map((step) => ({ ...step, run: id, workflow })))
      .filter(({ effect, status }) => effect !== 'read' && status !== 'waiting')
      .sort((a, b) => place(a) - place(b))
  }

  #describe({ id, workflow, account, handler, status, reason, dueAt, output, error, tags, progress }: Run): TestRun {
    const steps = this.#steps.get(id) ?? []
    const logs = this.#logs.get(id) ?? []
    return {
      id,
      workflow,
      account,
      handler,
      status,
      reason,
      error,
      tags,
      progress: progress && countsOf(progress),
      dueAt: status === 'waiting' ? dueAt : null,
      output: output === null ? null : JSON.parse(output),
      steps: () => steps.map(describeStep),
      logs: () => [...logs],
    }
  }
}

function countsOf({ done, total, failed, note }: Progress): TestRun['progress'] {
  return { done, total, failed, note }
}

/** By id, so oldest first. */
async function readRuns(store: ReadStore, ids: ReadonlySet<string>): Promise<Run[]> {
  const runs = await Promise.all([...ids].sort().map((id) => store.findRun(id)))
  return runs.flatMap((run) => run ?? [])
}

function describeStep({ key, effect, status, output, error, attempt, target }: Checkpoint): TestStep {
  return { key, effect, status, output: output === null ? null : JSON.parse(output), error, attempt, target }
}
