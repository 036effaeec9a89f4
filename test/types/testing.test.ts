import { expectTypeOf, test } from 'vitest'
import { cron, defineEvent, defineWorkflow, z } from '../../src/author/index.ts'
import { crashEverywhere, type Testbed } from '../../src/testing/index.ts'

const counted = defineEvent('file.counted', { data: z.object({ count: z.string().transform(Number) }) })
const double = defineWorkflow({
  id: 'double',
  on: counted,
  run: async ({ event }) => ({ twice: event.data.count * 2 }),
})
const nightly = defineWorkflow({ id: 'nightly', on: cron('0 3 * * *'), run: ({ tick }) => tick.missed })

test('a run has the output of its workflow, or none yet', () => {
  const outputs = (t: Testbed) => [t.run(double).output, t.run(nightly).output, t.runs(double)[0]?.output] as const
  expectTypeOf(outputs).returns.toEqualTypeOf<
    readonly [{ twice: number } | null, number | null, { twice: number } | null | undefined]
  >()
  const byId = (t: Testbed) => t.run('double').output
  expectTypeOf(byId).returns.toEqualTypeOf<unknown>()
})

test('an event is sent as its definition reads it, before any transformation', () => {
  const send = (t: Testbed) => [
    t.send(counted, { count: '2' }),
    t.send(counted, {
      // @ts-expect-error: the author's code gets another type than the service sends.
      count: 2,
    }),
    // @ts-expect-error: the data is missing.
    t.send(counted),
    t.send('file.counted', { anything: true }),
  ]
  expectTypeOf(send).toBeFunction()
})

test('a crash report keeps the type of the value that the scenario returned', () => {
  const preview = () => crashEverywhere({ workflows: [double] }, async (t) => t.run(double).output)
  expectTypeOf(preview).returns.resolves.toHaveProperty('value').toEqualTypeOf<{ twice: number } | null>()
})
