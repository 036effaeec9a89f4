import { planRoutes, scheduleOf } from '../author/read-workflow.ts'
import type { AnyWorkflow } from '../author/workflow.ts'
import { UpshotError } from '../core/errors.ts'
import { planPriorities, planRuns, type Route } from '../core/incoming/route.ts'
import type { ReplacedSteps } from './engine/replaced-steps.ts'

/** A workflow or its id. */
export type WorkflowOrId = AnyWorkflow | string

export class TestWorkflows {
  readonly #replaced: ReplacedSteps
  #byId: ReadonlyMap<string, AnyWorkflow>

  constructor(workflows: readonly AnyWorkflow[], replaced: ReplacedSteps) {
    this.#replaced = replaced
    this.#byId = this.#read(workflows)
  }

  /** By id. */
  get all(): ReadonlyMap<string, AnyWorkflow> {
    return this.#byId
  }

  get routes(): Route[] {
    return [...this.#byId.values()].flatMap(planRoutes)
  }

  /** The workflows that an event of this type starts, with their priorities. */
  planRuns(type: string) {
    const workflows = planRuns(type, this.routes)
    return { workflows, priorities: planPriorities(workflows, this.routes) }
  }

  /** Puts changed code in the place of all workflows. */
  deploy(workflows: readonly AnyWorkflow[]): void {
    this.#byId = this.#read(workflows)
  }

  /** Throws `not_found`. */
  require(workflow: WorkflowOrId): AnyWorkflow {
    const found = this.#byId.get(idOf(workflow))
    if (found) return found
    const known = [...this.#byId.keys()].join(', ')
    throw new UpshotError('not_found', `The testbed has no workflow "${idOf(workflow)}". It has: ${known}.`)
  }

  /** Throws `not_found`, and `invalid_request` for a workflow without a cron line. */
  requireCron(workflow: WorkflowOrId) {
    const { id } = this.require(workflow)
    const schedule = scheduleOf(this.require(workflow))
    if (schedule) return { id, schedule }
    throw new UpshotError('invalid_request', `"${id}" does not run on a cron line. Send it an event.`)
  }

  #read(workflows: readonly AnyWorkflow[]): ReadonlyMap<string, AnyWorkflow> {
    const byId = new Map(this.#replaced.applyTo(workflows).map((workflow) => [workflow.id, workflow]))
    if (byId.size === workflows.length) return byId
    throw new UpshotError('invalid_workflow', 'Two workflows of the testbed have the same id. Rename one of them.')
  }
}

function idOf(workflow: WorkflowOrId): string {
  return typeof workflow === 'string' ? workflow : workflow.id
}
