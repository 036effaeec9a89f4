import { codeHashOf, describeTrigger, describeWorkflow, scheduleOf } from '../../author/read-workflow.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { describeError, type Failure, findAuthorFrame, UpshotError } from '../../core/errors.ts'
import type { NoticeOf, Publish } from '../../core/notices.ts'
import type { BrokenModule, LoadedWorkflows } from '../../core/runs/workflow-record.ts'
import { parseCronLine } from '../../schedule/cron-line.ts'
import { describeLoadFault, withRemedy } from '../load-fault.ts'
import { type LoadedModule, type LoadOptions, loadWorkflows } from './load-workflows.ts'

/** The author's workflows in this process, by file and by id. */
export class WorkflowSet {
  readonly #folder: string
  readonly #publish: Publish
  readonly #options: LoadOptions
  #byFile = new Map<string, AnyWorkflow>()
  #byId = new Map<string, AnyWorkflow>()
  #broken: BrokenModule[] = []

  private constructor(folder: string, publish: Publish, options: LoadOptions) {
    this.#folder = folder
    this.#publish = publish
    this.#options = options
  }

  /** Loads every module of the folder. A broken module only causes a notice. */
  static async load(folder: string, publish: Publish, options: LoadOptions = {}): Promise<WorkflowSet> {
    const set = new WorkflowSet(folder, publish, options)
    set.#replace(await loadWorkflows(folder, options))
    for (const [file, workflow] of set.#byFile) {
      publish({ kind: 'workflow.loaded', workflow: workflow.id, file, on: describeTrigger(workflow) })
    }
    return set
  }

  /** Makes a set of workflows that need no loading. */
  static of(workflows: readonly AnyWorkflow[], publish: Publish): WorkflowSet {
    const set = new WorkflowSet('', publish, {})
    set.#replace(workflows.map((workflow) => ({ kind: 'loaded', file: `${workflow.id}.workflow.ts`, workflow })))
    return set
  }

  find(id: string): AnyWorkflow | undefined {
    return this.#byId.get(id)
  }

  some(fits: (workflow: AnyWorkflow) => boolean): boolean {
    return [...this.#byId.values()].some(fits)
  }

  /** Modules whose code is not at work; a former version may be. */
  get broken(): readonly BrokenModule[] {
    return this.#broken
  }

  get codeHashes(): Record<string, string> {
    return Object.fromEntries([...this.#byId].map(([id, workflow]) => [id, codeHashOf(workflow)]))
  }

  /** The set as `saveWorkflows` tells other processes. */
  describe(): LoadedWorkflows {
    const workflows = [...this.#byFile].map(([file, workflow]) => ({ file, ...describeWorkflow(workflow) }))
    return { workflows, broken: this.#broken.map(({ file }) => file) }
  }

  /**
   * Loads the modules again; a broken one keeps its former version, and active passes keep their
   * code. False, with nothing changed, where the folder cannot be loaded.
   */
  async reload(version: string): Promise<boolean> {
    try {
      this.#replace(await loadWorkflows(this.#folder, { ...this.#options, version }))
    } catch (error) {
      this.#publish({ kind: 'workflow.broken', file: this.#folder, error: describeError(error), kept: true })
      return false
    }
    this.#publish({ kind: 'workflows.reloaded', workflows: this.#byId.size, broken: this.#broken.length })
    return true
  }

  #replace(modules: readonly LoadedModule[]): void {
    const sound = new Map<string, AnyWorkflow>()
    const faults: NoticeOf<'workflow.broken'>[] = []
    for (const module of modules) {
      const { file } = module
      const error = module.kind === 'broken' ? module.error : findScheduleFault(module.workflow)
      if (module.kind === 'loaded' && error === null) sound.set(file, module.workflow)
      else faults.push({ kind: 'workflow.broken', file, error: withRemedy(describeError(error)) })
    }
    this.#broken = []
    const taken = new Set([...sound.values()].map(({ id }) => id))
    for (const fault of faults) {
      const former = this.#byFile.get(fault.file)
      const isKept = former !== undefined && !taken.has(former.id)
      if (isKept) sound.set(fault.file, former)
      this.#publish({ ...fault, ...(isKept ? { kept: true } : {}) })
      const next = this.#options.isWatched ? '' : ' Then start the app again.'
      const reason = `${explain(fault.error)}${next}${isKept ? ' Until then its former version stays at work.' : ''}`
      this.#broken.push({ file: fault.file, reason })
    }
    this.#byFile = sound
    this.#byId = new Map([...sound.values()].map((workflow) => [workflow.id, workflow]))
  }
}

/** A fault with its place and what to do. Errors of ours say themselves what to do. */
function explain(error: Failure): string {
  const place = findAuthorFrame(error)
  if (error.name === UpshotError.name)
    return place === null ? error.message : `${error.message.replace(/\.$/, '')} (at ${place}).`
  return `${describeLoadFault(error)}. Mend the module.`
}

/** Checked here so that a bad cron line breaks its own workflow, not the scheduler. */
function findScheduleFault(workflow: AnyWorkflow): unknown {
  const schedule = scheduleOf(workflow)
  if (schedule === null) return null
  try {
    parseCronLine(schedule.expression, schedule.timezone)
    return null
  } catch (error) {
    return error
  }
}
