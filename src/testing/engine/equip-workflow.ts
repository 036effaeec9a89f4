import type { RunContext } from '../../author/context.ts'
import type { StepApi } from '../../author/steps/step-api.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'

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
