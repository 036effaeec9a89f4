import type { StepApi, StepContext } from '../../author/step-api.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { UpshotError } from '../../core/errors.ts'
import { equipWorkflow } from './equip-workflow.ts'

/** Functions that replace those of steps, by workflow and step name. */
export type StepReplacements = Record<string, Record<string, (context: StepContext) => unknown>>

/**
 * The workflows with some functions replaced. Journal, retries and limits still apply to those
 * steps.
 */
export function replaceSteps(workflows: readonly AnyWorkflow[], replacements: StepReplacements): AnyWorkflow[] {
  for (const id of Object.keys(replacements)) {
    if (workflows.some((workflow) => workflow.id === id)) continue
    throw new UpshotError('not_found', `The testbed has no workflow "${id}" whose steps it could replace.`)
  }
  return workflows.map((workflow) => {
    const functions = replacements[workflow.id]
    return functions ? equipWorkflow(workflow, (step) => replaceFunctions(step, functions)) : workflow
  })
}

function replaceFunctions(step: StepApi, functions: Record<string, (context: StepContext) => unknown>): StepApi {
  const run: StepApi['run'] = (name, fn, options) => {
    const replacement = functions[typeof name === 'string' ? name : name[0]]
    return step.run(name, (replacement as typeof fn | undefined) ?? fn, options)
  }
  const map: StepApi['map'] = (name, items, keyOf, fn, options) => {
    const replacement = functions[name] as ((context: StepContext) => ReturnType<typeof fn>) | undefined
    const replaced = replacement && (((_item, context) => replacement(context)) as typeof fn)
    return step.map(name, items, keyOf, replaced ?? fn, options)
  }
  return { ...step, run, map }
}
