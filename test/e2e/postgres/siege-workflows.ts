import { DOOR } from '../../support/program.ts'

/** Notes a line in a file of the project. */
const NOTE = `import { appendFileSync } from 'node:fs'
const note = (line) => appendFileSync('effects.txt', line + '\\n')`

const orders = `import { defineEvent, z } from '${DOOR}'
export const placed = defineEvent('order.placed', { data: z.object({ of: z.string() }) })`

const tenSteps = `${NOTE}
import { defineWorkflow, Interrupted } from '${DOOR}'
import child from './child.workflow.ts'
import { placed } from '../orders.ts'
export default defineWorkflow({
  id: 'ten-steps',
  on: 'file.*',
  run: async ({ event, step }) => {
    await step.run('first', () => note('step ' + event.id))
    await step.run('once', () => note('once ' + event.id), { once: true }).catch((error) => {
      if (!(error instanceof Interrupted)) throw error
    })
    await Promise.all(['a', 'b', 'c'].map((name) => step.run(name, () => name)))
    await step.sleep('nap', '1ms')
    await step.send('tell', placed, { of: event.id })
    const twice = await step.invoke('twice', child, 21)
    return step.run('last', () => twice)
  },
})`

const child = `import { callable, defineWorkflow, z } from '${DOOR}'
export default defineWorkflow({
  id: 'child',
  on: callable(z.number()),
  run: ({ input, step }) => step.run('twice', () => input * 2),
})`

const limited = `import { defineWorkflow } from '${DOOR}'
import { placed } from '../orders.ts'
export default defineWorkflow({
  id: 'limited',
  on: placed,
  concurrency: { limit: 5 },
  run: ({ event, step }) => step.run('work', () => event.data.of),
})`

const everySecond = `import { cron, defineWorkflow } from '${DOOR}'
export default defineWorkflow({
  id: 'every-second',
  on: cron('* * * * * *', { overlap: 'queue' }),
  run: ({ step }) => step.run('tick', () => 1),
})`

/**
 * An event starts ten steps, one of them at most once, and a child. Their event starts a run
 * behind a limit of five. Beside that there is a cron line.
 */
export const SIEGE_WORKFLOWS: Record<string, string> = {
  '../orders.ts': orders,
  'ten-steps.workflow.ts': tenSteps,
  'child.workflow.ts': child,
  'limited.workflow.ts': limited,
  'every-second.workflow.ts': everySecond,
}

/** The workflows of which each event has one run. */
export const OF_EACH_EVENT = ['ten-steps', 'child', 'limited'] as const
