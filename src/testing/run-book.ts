import type { Failure } from '../core/errors.ts'
import { UpshotError } from '../core/errors.ts'
import type { NoticeOf } from '../core/notices.ts'
import type { Run, RunHandler, RunStatus } from '../core/runs/run.ts'
import type { Checkpoint, Effect, StepStatus } from '../core/runs/step.ts'
import type { ReadStore } from '../core/store/store.ts'

/** A snapshot of a run. */
export interface TestRun<Output = unknown> {
  id: string
  workflow: string
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
  /** Oldest first. */
  #runs: Run[] = []
  readonly #steps = new Map<string, Checkpoint[]>()
  readonly #logs = new Map<string, TestLog[]>()

  /** Reads all runs, and the steps of new runs and of those in `touched`. */
  async refresh(store: ReadStore, touched: ReadonlySet<string>): Promise<void> {
    const found = new Map((await store.listRuns({ limit: EVERY_RUN })).map((run) => [run.id, run]))
    const known = this.#runs.map(({ id }) => id)
    const fresh = [...found.keys()].reverse().filter((id) => !this.#steps.has(id))
    this.#runs = [...known, ...fresh].flatMap((id) => found.get(id) ?? [])
    for (const id of new Set([...touched, ...fresh])) this.#steps.set(id, await store.listSteps(id))
  }

  note({ run, level, message, facts }: NoticeOf<'run.log'>): void {
    this.#logs.set(run, [...(this.#logs.get(run) ?? []), { level, message, facts }])
  }

  /** All runs, or those of one workflow. */
  list(workflow?: string): TestRun[] {
    const runs = workflow === undefined ? this.#runs : this.#runs.filter((run) => run.workflow === workflow)
    return runs.map((run) => this.#describe(run))
  }

  find(id: string): TestRun {
    const run = this.#runs.find((each) => each.id === id)
    if (!run) throw new UpshotError('not_found', `There is no run ${id}.`)
    return this.#describe(run)
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

  #describe({ id, workflow, handler, status, reason, dueAt, output, error }: Run): TestRun {
    const steps = this.#steps.get(id) ?? []
    const logs = this.#logs.get(id) ?? []
    return {
      ...{ id, workflow, handler, status, reason, error },
      dueAt: status === 'waiting' ? dueAt : null,
      output: output === null ? null : JSON.parse(output),
      steps: () => steps.map(describeStep),
      logs: () => [...logs],
    }
  }
}

function describeStep({ key, effect, status, output, error, attempt, target }: Checkpoint): TestStep {
  return { key, effect, status, output: output === null ? null : JSON.parse(output), error, attempt, target }
}
