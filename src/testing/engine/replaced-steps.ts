import type { RunContext } from '../../author/context.ts'
import type { StepApi, StepContext } from '../../author/steps/step-api.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { UpshotError } from '../../core/errors.ts'

type Replacement = (context: StepContext) => unknown

/**
 * Functions that replace those of steps, by workflow and step name. For a wait or a receive, the
 * function returns the event, or null as after its timeout. An invocation gets the output, a
 * question the verdict.
 */
export type StepReplacements = Record<string, Record<string, Replacement>>

/** The workflows with some steps replaced. Journal, retries and limits still apply to them. */
export class ReplacedSteps {
  readonly #replacements: StepReplacements
  readonly #sources = new Map<string, string>()
  /** Names of the steps that runs reached, by workflow. */
  readonly #reached = new Map<string, Set<string>>()

  constructor(replacements: StepReplacements) {
    this.#replacements = replacements
  }

  /** Throws `not_found` for a replacement in a workflow that is not there. */
  applyTo(workflows: readonly AnyWorkflow[]): AnyWorkflow[] {
    for (const id of Object.keys(this.#replacements)) {
      if (workflows.some((workflow) => workflow.id === id)) continue
      throw new UpshotError('not_found', `The testbed has no workflow "${id}" whose steps it could replace.`)
    }
    return workflows.map((workflow) => {
      const functions = this.#replacements[workflow.id]
      return functions ? this.#apply(workflow, functions) : workflow
    })
  }

  /**
   * Throws `not_found` for a step that no run of an ended workflow reached. A name that stands in
   * the source of the workflow's functions is let pass: it may belong to another branch.
   */
  requireNames(ended: ReadonlySet<string>): void {
    for (const [workflow, functions] of Object.entries(this.#replacements)) {
      if (ended.has(workflow)) this.#requireNamesOf(workflow, Object.keys(functions))
    }
  }

  #requireNamesOf(workflow: string, names: readonly string[]): void {
    const reached = this.#reached.get(workflow) ?? new Set()
    const source = this.#sources.get(workflow) ?? ''
    const unknown = names.find((name) => !reached.has(name) && !source.includes(name))
    if (unknown === undefined) return
    const steps = [...reached].map((name) => `"${name}"`).join(', ') || 'none'
    throw new UpshotError(
      'not_found',
      `"steps" replaces "${unknown}" of "${workflow}", which has no such step. Its runs reached: ${steps}.`,
    )
  }

  #apply(workflow: AnyWorkflow, functions: Record<string, Replacement>): AnyWorkflow {
    const reached = new Set<string>()
    this.#reached.set(workflow.id, reached)
    this.#sources.set(workflow.id, `${workflow.run} ${workflow.onFailure}`)
    const find = (name: string | readonly [string, ...unknown[]]): Replacement | undefined => {
      const plain = typeof name === 'string' ? name : name[0]
      reached.add(plain)
      return functions[plain]
    }
    return equipWorkflow(workflow, (step) => replaceFunctions(step, find))
  }
}

type Find = (name: string | readonly [string, ...unknown[]]) => Replacement | undefined
type AnyVerb = (name: never, ...given: never[]) => Promise<unknown>

function replaceFunctions(step: StepApi, find: Find): StepApi {
  const run: StepApi['run'] = (name, fn, options) => step.run(name, (find(name) as typeof fn) ?? fn, options)
  const map: StepApi['map'] = (name, items, keyOf, fn, options) => {
    const replacement = find(name) as ((context: StepContext) => ReturnType<typeof fn>) | undefined
    const replaced = replacement && (((_item, context) => replacement(context)) as typeof fn)
    return step.map(name, items, keyOf, replaced ?? fn, options)
  }
  /** A verb without a function of its own becomes a step that the replacement answers. */
  const answer = (verb: AnyVerb): AnyVerb => {
    return (name, ...given) => {
      const replacement = find(name)
      return replacement ? step.run(name, replacement as () => null, { effect: 'read' }) : verb(name, ...given)
    }
  }
  const waitFor = answer(step.waitFor as AnyVerb) as StepApi['waitFor']
  const receive = answer(step.receive as AnyVerb) as StepApi['receive']
  const invoke = answer(step.invoke as AnyVerb) as StepApi['invoke']
  const approve = answer(step.approve as AnyVerb) as StepApi['approve']
  return { ...step, run, map, waitFor, receive, invoke, approve }
}

type Call = (context: never) => unknown

/** The workflow with another `step` for its functions. */
export function equipWorkflow(workflow: AnyWorkflow, change: (step: StepApi) => StepApi): AnyWorkflow {
  const equip =
    (call: Call): Call =>
    (context: RunContext) =>
      call({ ...context, step: change(context.step) } as never)
  const { run, onFailure } = workflow
  return { ...workflow, run: equip(run), ...(onFailure ? { onFailure: equip(onFailure) } : {}) }
}
