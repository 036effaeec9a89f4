import { defineWorkflow } from '../../src/author/define-workflow.ts'
import type { AnyWorkflow, WorkflowOptions } from '../../src/author/workflow.ts'
import type { Worker } from '../../src/engine/worker.ts'
import type { TestEngine } from './test-engine.ts'

type Options = WorkflowOptions<string, unknown>
type Parts = [id: string, run: Options['run']] | [id: string, options: Partial<Options>, run: Options['run']]

/** A workflow that runs on any event, unless its options say otherwise. */
export function define(...parts: Parts): AnyWorkflow {
  const [id, options, run] = parts.length === 2 ? [parts[0], {}, parts[1]] : parts
  return defineWorkflow({ id, on: '*', ...options, run })
}

/** Sleeps for a minute and does nothing else. */
export function nap(id: string): AnyWorkflow {
  return defineWorkflow({ id, on: '*', run: ({ step }) => step.sleep('nap', '1m') })
}

/** Runs the step `reserve`, which returns 1, sleeps for a minute, and returns that result. */
export function stepThenNap(id: string): AnyWorkflow {
  return defineWorkflow({
    id,
    on: '*',
    run: async ({ step }) => {
      const reserved = await step.run('reserve', () => 1)
      await step.sleep('nap', '1m')
      return reserved
    },
  })
}

/** Runs one step that never ends; `started` resolves with the step's signal. */
export function hang(id: string, options: Pick<AnyWorkflow, 'retry' | 'timeout'> = {}) {
  const started = Promise.withResolvers<AbortSignal>()
  const workflow = defineWorkflow({
    id,
    on: '*',
    ...options,
    run: ({ step }) =>
      step.run('hang', ({ signal }) => {
        started.resolve(signal)
        return new Promise(() => {})
      }),
  })
  return { workflow, started: started.promise }
}

/** Stops a worker and starts another one, with other code on the same store. */
export async function changeCode(engine: TestEngine, worker: Worker, workflows: AnyWorkflow[]): Promise<Worker> {
  await worker.stop()
  return engine.start(workflows)
}
