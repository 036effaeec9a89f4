import { defineWorkflow } from '../../src/author/define-workflow.ts'
import type { AnyWorkflow } from '../../src/author/workflow.ts'
import type { Worker } from '../../src/engine/worker.ts'
import type { TestEngine } from './test-engine.ts'

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
