import { defineWorkflow } from '../src/author/define-workflow.ts'
import { EVENT_TYPE } from './deliveries.ts'

/**
 * The least that is durable three times over: every step is a `write`, so each one waits for the
 * commit of the one before.
 */
export const threeSteps = defineWorkflow({
  id: 'measured',
  on: EVENT_TYPE,
  async run({ step }) {
    const one = await step.run('one', () => 1)
    const two = await step.run('two', () => one + 1)
    return step.run('three', () => two + 1)
  },
})
