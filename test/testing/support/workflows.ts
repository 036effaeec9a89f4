import { defineWorkflow } from '../../../src/author/index.ts'

/** Logs and returns a greeting, in one step. */
export const greet = defineWorkflow({
  id: 'greet',
  on: 'greeting.asked',
  async run({ event, step, log }) {
    log.info('asked', { by: event.data.name })
    return step.run('greet', () => `Hello ${event.data.name}`)
  },
})
