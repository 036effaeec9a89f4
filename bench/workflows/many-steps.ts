import { defineWorkflow } from '../../src/author/define-workflow.ts'

export const MANY_STEPS = 10_000

/** A run with a long journal. */
export const manySteps = defineWorkflow({
  id: 'many-steps',
  on: 'bench.many',
  async run({ step }) {
    let sum = 0
    for (let each = 0; each < MANY_STEPS; each++) sum += await step.run(['add', each], () => each)
    return sum
  },
})
