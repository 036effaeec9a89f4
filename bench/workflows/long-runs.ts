import { z } from 'zod'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { callable } from '../../src/author/trigger.ts'

const child = defineWorkflow({ id: 'child', on: callable(z.number()), run: ({ input }) => input })

/** Its input is the number of sleeps. */
const sleepsInTurn = defineWorkflow({
  id: 'sleeps-in-turn',
  on: callable(z.number()),
  async run({ input, step }) {
    for (let each = 0; each < input; each++) await step.sleep(['nap', each], '1ms')
  },
})

/** Its input is the number of children. */
const childrenInTurn = defineWorkflow({
  id: 'children-in-turn',
  on: callable(z.number()),
  async run({ input, step }) {
    for (let each = 0; each < input; each++) await step.invoke(['child', each], child, each)
  },
})

const childrenAtOnce = defineWorkflow({
  id: 'children-at-once',
  on: callable(z.number()),
  async run({ input, step }) {
    const all = Array.from({ length: input }, (_, each) => step.invoke(['child', each], child, each))
    return (await Promise.all(all)).length
  },
})

/** Its input is the number of items. */
const mapOfMany = defineWorkflow({
  id: 'map-of-many',
  on: callable(z.number()),
  async run({ input, step }) {
    const items = Array.from({ length: input }, (_, each) => each)
    return (await step.map('item', items, String, (each) => each + 1, { parallel: 16 })).length
  },
})

/** Runs of many passes, and the child that they invoke. */
export const longRuns = [child, sleepsInTurn, childrenInTurn, childrenAtOnce, mapOfMany]
