import type { StepApi, StepContext } from '../../author/step-api.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { UpshotError } from '../../core/errors.ts'
import { equipWorkflow } from './equip-workflow.ts'

/** Functions to run in place of those that a workflow's steps have, by workflow and step name. */
export type StepReplacements = Record<string, Record<string, (context: StepContext) => unknown>>

/**
 * The same workflows with some steps doing something else. Everything around the functions stays:
 * journal, retries, limits.
 */
export function replaceSteps(workflows: readonly AnyWorkflow[], replacements: StepReplacements): AnyWorkflow[] {
  for (const id of Object.keys(replacements)) {
    if (workflows.some((workflow) => workflow.id === id)) continue
    throw new UpshotError('not_found', `Steps of "${id}" are to be replaced, but the testbed has no such workflow.`)
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
    return step.map(name, items, keyOf, replacement ? (_item, context) => replacement(context) : fn, options)
  }
  return { ...step, run, map }
}
