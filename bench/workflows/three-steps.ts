import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { EVENT_TYPE } from '../deliveries.ts'

/** Three `write` steps: each waits until the one before is on disk. */
export const threeSteps = defineWorkflow({
  id: 'measured',
  on: EVENT_TYPE,
  async run({ step }) {
    const one = await step.run('one', () => 1)
    const two = await step.run('two', () => one + 1)
    return step.run('three', () => two + 1)
  },
})
