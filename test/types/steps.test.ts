import { expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { cron } from '../../src/author/cron.ts'
import { defineEvent } from '../../src/author/define-event.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import type { StepApi } from '../../src/author/steps/step-api.ts'
import { type CallableTrigger, callable } from '../../src/author/trigger.ts'
import type { ServiceEvent } from '../../src/core/incoming/event.ts'

const moved = defineEvent('copy.completed', {
  data: z.looseObject({ id: z.string(), bytes: z.string().transform(Number), note: z.string().optional() }),
  keys: { transfer: (data) => data.id, bytes: (data) => data.bytes, note: (data) => data.note ?? null },
})
const plain = defineEvent('file.deleted', { data: z.object({ id: z.string() }) })
const child = defineWorkflow({
  id: 'child',
  on: callable(z.object({ n: z.string().transform(Number), note: z.string().optional() })),
  run: ({ input }) => {
    expectTypeOf(input).toEqualTypeOf<{ n: number; note?: string | undefined }>()
    return { doubled: input.n * 2 }
  },
})
const quiet = defineWorkflow({ id: 'quiet', on: callable(z.void()), run: async () => 'done' })
const onMoved = defineWorkflow({ id: 'on-moved', on: moved, run: ({ event }) => event.data.bytes })
const onAny = defineWorkflow({ id: 'on-any', on: [moved, 'file.created'], run: () => new Date() })
const big = defineWorkflow({ id: 'big', on: 'file.created', run: () => 1n })
const nightly = defineWorkflow({ id: 'nightly', on: cron('0 3 * * *'), run: () => null })

it('keys are computed from the output of the schema', () => {
  defineEvent('a.b', {
    data: z.object({ n: z.string().transform(Number) }),
    keys: {
      n: (data) => {
        expectTypeOf(data).toEqualTypeOf<{ n: number }>()
        return data.n
      },
    },
  })
  const misuse = () => {
    // @ts-expect-error: a key is text or a number.
    defineEvent('a.b', { data: z.object({ n: z.number() }), keys: { n: (data) => ({ value: data.n }) } })
    // @ts-expect-error: there is no such field.
    defineEvent('a.b', { data: z.object({ n: z.number() }), keys: { n: (data) => data.m } })
  }
  expectTypeOf(misuse).toBeFunction()
})

it('a wait returns the event of its definition or null', () => {
  const waits = async (step: StepApi) =>
    [
      await step.waitFor('a', {
        on: moved,
        where: { transfer: 't', bytes: 7, note: 'x' },
        timeout: '1h',
        since: 'run',
      }),
      await step.waitFor('b', { on: moved, timeout: 1 }),
      await step.waitFor('c', { on: 'file.created', timeout: '1d' }),
      await step.waitFor('d', { on: 'file.*', timeout: '1d' }),
    ] as const
  type Moved = ServiceEvent<'copy.completed', z.output<typeof moved.data>>
  expectTypeOf(waits).returns.resolves.toEqualTypeOf<
    readonly [Moved | null, Moved | null, ServiceEvent<'file.created'> | null, ServiceEvent<string> | null]
  >()
})

it('a receive returns the event of its definition or null, and is misused like a wait', () => {
  const receives = async (step: StepApi) =>
    [
      await step.receive('a', { on: moved, where: { transfer: 't' }, timeout: '1h' }),
      await step.receive(['b', 7], { on: 'file.*', timeout: '1d' }),
    ] as const
  type Moved = ServiceEvent<'copy.completed', z.output<typeof moved.data>>
  expectTypeOf(receives).returns.resolves.toEqualTypeOf<readonly [Moved | null, ServiceEvent<string> | null]>()
  const misuse = (step: StepApi) => {
    // @ts-expect-error: a receive ends some time.
    void step.receive('a', { on: moved })
    // @ts-expect-error: the run's start is where it begins.
    void step.receive('a', { on: moved, timeout: '1h', since: 'now' })
  }
  expectTypeOf(misuse).toBeFunction()
})

it('a run is continued with an input of its own trigger', () => {
  const check = (
    called: StepApi<CallableTrigger<z.ZodObject<{ round: z.ZodNumber }>>>,
    sent: StepApi<typeof moved>,
  ) => {
    expectTypeOf(called.continueAs({ round: 1 })).resolves.toBeNever()
    void sent.continueAs({ data: { id: 't', bytes: '1' } })
    // @ts-expect-error: the input is of another shape.
    void called.continueAs({ round: 'one' })
    // @ts-expect-error: the input is missing.
    void called.continueAs()
  }
  expectTypeOf(check).toBeFunction()
})

it('the compiler blames the wrong part of a wait, a receive or an event, not its definition', () => {
  const misuse = (step: StepApi) => {
    const timeout = '1h'
    const where = { on: moved, timeout } as const
    void step.waitFor('a', {
      ...where,
      where: {
        // @ts-expect-error: there is no such key.
        owner: 'x',
      },
    })
    void step.receive('a', {
      ...where,
      where: {
        // @ts-expect-error: there is no such key.
        owner: 'x',
      },
    })
    void step.send('a', plain, {
      // @ts-expect-error: the id is text.
      id: 7,
    })
  }
  expectTypeOf(misuse).toBeFunction()
})

it('a misused wait does not compile', () => {
  const misuse = (step: StepApi) => {
    // @ts-expect-error: a wait ends some time.
    void step.waitFor('a', { on: moved })
    // @ts-expect-error: the key is text.
    void step.waitFor('a', { on: moved, where: { transfer: 7 }, timeout: '1h' })
    void step.waitFor('a', {
      on: 'file.created',
      // @ts-expect-error: a type alone has no keys.
      where: { path: 'x' },
      timeout: '1h',
    })
    // @ts-expect-error: this is no beginning.
    void step.waitFor('a', { on: plain, timeout: '1h', since: 'yesterday' })
  }
  expectTypeOf(misuse).toBeFunction()
})

it('step.invoke takes the input of a workflow and returns its output', () => {
  const invokes = async (step: StepApi) =>
    [
      await step.invoke('a', child, { n: '1' }),
      await step.invoke('b', quiet),
      await step.invoke('c', quiet, undefined, { timeout: '1h', parentClosePolicy: 'abandon' }),
      await step.invoke('d', onMoved, { data: { id: 't', bytes: '12' } }),
      await step.invoke('e', onAny, { type: 'file.created', data: {} }),
    ] as const
  // @ts-expect-error: there are two policies.
  const wrong = (step: StepApi) => step.invoke('f', quiet, undefined, { parentClosePolicy: 'terminate' })
  expectTypeOf(wrong).toBeFunction()
  expectTypeOf(invokes).returns.resolves.toEqualTypeOf<readonly [{ doubled: number }, string, string, number, string]>()
})

it('a misused invocation does not compile', () => {
  const misuse = (step: StepApi) => {
    // @ts-expect-error: the input is missing.
    void step.invoke('a', child)
    // @ts-expect-error: the input is what the schema takes, not what it gives.
    void step.invoke('a', child, { n: 1 })
    // @ts-expect-error: an event has data.
    void step.invoke('a', onMoved, { id: 'evt_1' })
    // @ts-expect-error: one of several types must be named.
    void step.invoke('a', onAny, { data: { id: 't', bytes: '1' } })
    // @ts-expect-error: JSON cannot keep its output.
    void step.invoke('e', big, { data: {} })
    // @ts-expect-error: a cron line takes no input.
    void step.invoke('a', nightly, {})
  }
  expectTypeOf(misuse).toBeFunction()
})

it('step.send takes the input of a definition, and step.map returns the results of its function', () => {
  const uses = async (step: StepApi) => {
    expectTypeOf(await step.send('a', moved, { id: 't', bytes: '7' })).toEqualTypeOf<{ id: string }>()
    expectTypeOf(await step.send('b', 'order.shipped', { order: 1 })).toEqualTypeOf<{ id: string }>()
    const sizes = await step.map(
      'size',
      new Set(['a']),
      (name) => name,
      async (name, { attempt }) => name.length + attempt,
      {
        parallel: 2,
        once: true,
      },
    )
    expectTypeOf(sizes).toEqualTypeOf<number[]>()
    // @ts-expect-error: the definition takes text.
    void step.send('c', moved, { id: 't', bytes: 7 })
    const nothing = () => null
    // @ts-expect-error: a key is text or a number.
    void step.map('size', ['a'], nothing, (name) => name)
  }
  expectTypeOf(uses).toBeFunction()
})

it('a rule of `cancelOn` is computed from what caused the run', () => {
  defineWorkflow({
    id: 'a',
    on: moved,
    cancelOn: [{ on: plain }, { on: moved, where: { transfer: (event) => event.data.id } }],
    run: () => null,
  })
  defineWorkflow({
    id: 'b',
    on: callable(z.object({ id: z.string() })),
    cancelOn: { on: moved, where: { transfer: (input) => input.id } },
    run: () => null,
  })
  const misuse = () => {
    defineWorkflow({
      id: 'c',
      on: plain,
      // @ts-expect-error: there is no such field.
      cancelOn: { on: moved, where: { transfer: (event) => event.data.owner } },
      run: () => null,
    })
  }
  expectTypeOf(misuse).toBeFunction()
})

it('types a verdict by the schema of its answer, and a no without one', () => {
  const misuse = async (step: StepApi) => {
    const verdict = await step.approve('ask', { ask: 'Go on?', answer: z.object({ keep: z.number().default(1) }) })
    if (verdict.approved) expectTypeOf(verdict.answer).toEqualTypeOf<{ keep: number }>()
    else expectTypeOf(verdict.why).toEqualTypeOf<'denied' | 'expired'>()
    const plain = await step.approve('plain', { ask: 'Go on?' })
    if (plain.approved) expectTypeOf(plain.answer).toEqualTypeOf<null>()
    // @ts-expect-error A question has a text.
    await step.approve('empty', {})
  }
  expectTypeOf(misuse).toBeFunction()
})

it('a `dry` result has the type of the step, and adds nothing to it', () => {
  const dry = async (step: StepApi) =>
    [
      await step.run('a', () => ({ n: 1 }), { dry: () => ({ n: 2 }) }),
      await step.run('b', async () => 'x', { dry: async () => 'y' }),
      await step.map('c', [1, 2], String, (item) => item > 1, { dry: (item) => item > 2, parallel: 2 }),
    ] as const
  expectTypeOf(dry).returns.resolves.toEqualTypeOf<readonly [{ n: number }, string, boolean[]]>()
  const misuse = async (step: StepApi) => {
    // @ts-expect-error: the step gives a number.
    await step.run('a', () => 1, { dry: () => 'one' })
    // @ts-expect-error: a function, so that it is called where it is needed only.
    await step.run('b', () => 1, { dry: 1 })
    // @ts-expect-error: the items are numbers.
    await step.map('c', [1], String, (item) => item, { dry: (item: string) => item.length })
  }
  expectTypeOf(misuse).toBeFunction()
})
