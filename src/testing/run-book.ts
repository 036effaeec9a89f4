import type { Failure } from '../core/errors.ts'
import { UpshotError } from '../core/errors.ts'
import type { NoticeOf } from '../core/notices.ts'
import type { Run, RunHandler, RunStatus } from '../core/runs/run.ts'
import type { Checkpoint, Effect, StepStatus } from '../core/runs/step.ts'
import type { ReadStore } from '../core/store/store.ts'

/** A run as it was when it was asked for. */
export interface TestRun<Output = unknown> {
  id: string
  workflow: string
  /**
   * Which function of the workflow it executes. A run of `onFailure` follows one of `run` that
   * failed.
   */
  handler: RunHandler
  status: RunStatus
  /** Why it waits, was skipped or canceled; null otherwise. */
  reason: string | null
  /** When it goes on, in epoch milliseconds; null when it does not wait for a moment. */
  dueAt: number | null
  /** What it returned, as its JSON says; null until it is completed. */
  output: Output | null
  error: Failure | null
  /** Its journal, in the order in which the steps first began. */
  steps(): TestStep[]
  /** What it wrote to its log, in order. */
  logs(): TestLog[]
}

export interface TestStep {
  key: string
  effect: Effect
  status: StepStatus
  /** What it returned; null until it is completed. */
  output: unknown
  error: Failure | null
  /** Attempts that counted. */
  attempt: number
  /** What it acts on, such as `storage_a:fil_1`; null where the step does not say. */
  target: string | null
}

/** A step that wrote or deleted something, and whose it is. */
export interface TestEffect extends TestStep {
  run: string
  workflow: string
}

export type TestLog = Pick<NoticeOf<'run.log'>, 'level' | 'message' | 'facts'>

const EVERY_RUN = Number.MAX_SAFE_INTEGER

/** What the store and the notices said about all runs when everything had last come to rest. */
export class RunBook {
  /** Oldest first. */
  #runs: Run[] = []
  readonly #steps = new Map<string, Checkpoint[]>()
  readonly #logs = new Map<string, TestLog[]>()

  /** Reads what the store says now. Only the runs in `touched` may have steps that are new. */
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

  /** All of them, or those of one workflow. */
  list(workflow?: string): TestRun[] {
    const runs = workflow === undefined ? this.#runs : this.#runs.filter((run) => run.workflow === workflow)
    return runs.map((run) => this.#describe(run))
  }

  find(id: string): TestRun {
    const run = this.#runs.find((each) => each.id === id)
    if (!run) throw new UpshotError('not_found', `There is no run ${id}.`)
    return this.#describe(run)
  }

  /** The steps that are finished and were no reads, in the order of `saved`. */
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
