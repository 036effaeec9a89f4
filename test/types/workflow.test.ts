import { expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { cron, type Tick } from '../../src/author/cron.ts'
import { defineEvent } from '../../src/author/define-event.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import type { EventTriggers } from '../../src/author/trigger.ts'
import type { AnyWorkflow, Workflow } from '../../src/author/workflow.ts'
import type { ReceivedEvent } from '../../src/core/incoming/event.ts'
import type { FileDetails } from '../../src/core/service/file.ts'
import type { Page } from '../../src/core/service/files-api.ts'
import type { Duration } from '../../src/core/time.ts'

const transferCompleted = defineEvent('copy.completed', {
  data: z.looseObject({ transferId: z.string(), bytes: z.string().transform(Number), note: z.string().optional() }),
})
const fileCreated = defineEvent('file.created', { data: z.object({ file: z.object({ id: z.string() }) }) })

it('an event definition keeps its type and the output of its schema', () => {
  expectTypeOf(transferCompleted.type).toEqualTypeOf<'copy.completed'>()
  expectTypeOf(transferCompleted.data).toExtend<z.ZodType<{ transferId: string; bytes: number }>>()
})

it('event.data is typed by the schema', () => {
  defineWorkflow({
    id: 'a',
    on: transferCompleted,
    where: (event) => {
      expectTypeOf(event.data.transferId).toEqualTypeOf<string>()
      return event.data.bytes > 0
    },
    run: ({ event }) => {
      expectTypeOf(event.type).toEqualTypeOf<'copy.completed'>()
      expectTypeOf(event.data.bytes).toEqualTypeOf<number>()
      expectTypeOf(event.data.note).toEqualTypeOf<string | undefined>()
      // @ts-expect-error: the schema names no such field; a loose one gives it as unknown.
      event.data.transferld satisfies string
    },
  })
})

it('an event known by its type alone has unknown data', () => {
  defineWorkflow({
    id: 'a',
    on: 'file.created',
    run: ({ event }) => {
      expectTypeOf(event).toEqualTypeOf<ReceivedEvent<'file.created'>>()
      expectTypeOf(event.data.file).toEqualTypeOf<unknown>()
    },
  })
})

it('a pattern leaves the type of the event open', () => {
  defineWorkflow({ id: 'a', on: 'file.*', run: ({ event }) => expectTypeOf(event.type).toEqualTypeOf<string>() })
  defineWorkflow({ id: 'a', on: '*', run: ({ event }) => expectTypeOf(event.type).toEqualTypeOf<string>() })
})

it('a list of triggers gives one of their events, told apart by type', () => {
  defineWorkflow({
    id: 'a',
    on: [fileCreated, transferCompleted, 'file.deleted'],
    run: ({ event }) => {
      expectTypeOf(event.type).toEqualTypeOf<'file.created' | 'copy.completed' | 'file.deleted'>()
      if (event.type === 'file.created') expectTypeOf(event.data.file.id).toEqualTypeOf<string>()
      if (event.type === 'copy.completed') expectTypeOf(event.data.bytes).toEqualTypeOf<number>()
    },
  })
})

it('a cron workflow gets a tick and no event, and any other gets an event and no tick', () => {
  defineWorkflow({
    id: 'nightly',
    on: cron('0 3 * * *', { timezone: 'Europe/Berlin', catchUp: 'latest', within: '24h' }),
    run: (context) => {
      expectTypeOf(context.tick).toEqualTypeOf<Tick>()
      expectTypeOf(context).not.toHaveProperty('event')
    },
  })
  defineWorkflow({ id: 'a', on: 'file.created', run: (context) => expectTypeOf(context).not.toHaveProperty('tick') })
})

it('keys and priorities are functions of the event, or of the due moment of a cron workflow', () => {
  defineWorkflow({
    id: 'a',
    on: transferCompleted,
    concurrency: [{ limit: 4 }, { limit: 1, key: (event) => event.data.transferId }],
    throttle: { limit: 100, per: '1m', key: (event) => event.data.transferId },
    priority: (event) => event.data.bytes,
    singleton: { key: (event) => event.data.transferId, onConflict: 'cancel' },
    timeout: { start: '1h', step: '5m', run: '2d' },
    run: ({ event }) => expectTypeOf(event.data.transferId).toEqualTypeOf<string>(),
  })
  defineWorkflow({
    id: 'b',
    on: cron('0 3 * * *'),
    singleton: true,
    priority: (tick) => tick.missed,
    run: ({ tick }) => expectTypeOf(tick).toEqualTypeOf<Tick>(),
  })
})

it('a batch gets at least one event, and a debounce gets the newest one and a count', () => {
  const batch = defineWorkflow({
    id: 'a',
    on: [fileCreated, transferCompleted],
    batch: { size: 200, wait: '30s', key: (event) => event.type },
    run: (context) => {
      expectTypeOf(context.events[0].type).toEqualTypeOf<'file.created' | 'copy.completed'>()
      expectTypeOf(context).not.toHaveProperty('event')
      return context.events.length
    },
  })
  expectTypeOf(batch).toExtend<AnyWorkflow>()
  defineWorkflow({
    id: 'b',
    on: fileCreated,
    debounce: { wait: '10s', max: '5m', key: (event) => event.data.file.id },
    run: (context) => {
      expectTypeOf(context.event.data.file.id).toEqualTypeOf<string>()
      expectTypeOf(context.folded).toEqualTypeOf<number>()
      expectTypeOf(context).not.toHaveProperty('events')
    },
  })
  defineWorkflow({
    id: 'c',
    on: fileCreated,
    run: (context) => {
      expectTypeOf(context).not.toHaveProperty('events')
      expectTypeOf(context).not.toHaveProperty('folded')
    },
  })
  const misuse = () => {
    // @ts-expect-error: a batch has no single event.
    defineWorkflow({ id: 'a', on: fileCreated, batch: { size: 2, wait: '1s' }, run: ({ event }) => event })
    // @ts-expect-error: a key gives text.
    defineWorkflow({ id: 'a', on: fileCreated, concurrency: { limit: 1, key: () => 7 }, run: () => null })
    // @ts-expect-error: a cron workflow has no events to gather.
    defineWorkflow({ id: 'a', on: cron('0 3 * * *'), batch: { size: 2, wait: '1s' }, run: () => null })
    // @ts-expect-error: there is no such way to resolve a conflict.
    defineWorkflow({ id: 'a', on: fileCreated, singleton: { onConflict: 'fail' }, run: () => null })
  }
  expectTypeOf(misuse).toBeFunction()
})

it('the compiler blames the wrong part of a gathering, and nothing beside it', () => {
  const on = fileCreated
  const misuse = () => {
    defineWorkflow({
      id: 'a',
      on,
      batch: {
        // @ts-expect-error: a size is a number.
        size: '200',
        wait: '30s',
      },
      run: ({ events }) => events.length,
    })
    defineWorkflow({
      id: 'a',
      on,
      debounce: {
        // @ts-expect-error: this is no duration.
        wait: 'soon',
      },
      run: ({ event, folded }) => [event.id, folded],
    })
    defineWorkflow({
      id: 'a',
      on,
      batch: { size: 2, wait: '1s' },
      debounce: {
        // @ts-expect-error: a batch folds nothing.
        wait: '1s',
      },
      run: ({ events }) => events.length,
    })
    defineWorkflow({
      id: 'a',
      on,
      batch: { size: 2, wait: '1s' },
      // @ts-expect-error: a batch has several events.
      cancelOn: { on },
      run: ({ events }) => events.length,
    })
    defineWorkflow({
      id: 'a',
      // @ts-expect-error: a cron workflow has no events to fold.
      on: cron('0 3 * * *'),
      debounce: { wait: '1s' },
      run: () => null,
    })
  }
  expectTypeOf(misuse).toBeFunction()
})

it('options stand in any order, and a size or a silence may be computed', () => {
  const wait: Duration = 1_000
  defineWorkflow({
    run: ({ events }) => expectTypeOf(events[0].data.file.id).toEqualTypeOf<string>(),
    onFailure: ({ events, error }) => [events.length, error.code],
    batch: { size: Math.ceil(1.5), wait, key: (event) => event.data.file.id },
    on: fileCreated,
    id: 'a',
  })
  defineWorkflow({
    run: ({ folded }) => expectTypeOf(folded).toEqualTypeOf<number>(),
    debounce: { wait, key: (event) => event.data.file.id },
    cancelOn: { on: transferCompleted },
    on: fileCreated,
    id: 'b',
  })
})

it('a function of the author may make workflows that gather', () => {
  const gather = <const On extends EventTriggers>(id: string, on: On) =>
    defineWorkflow({ id, on, batch: { size: 20, wait: '1m' }, run: ({ events }) => events.length })
  const settle = <const On extends EventTriggers>(id: string, on: On) =>
    defineWorkflow({ id, on, debounce: { wait: '1m', key: (event) => event.id }, run: ({ folded }) => folded })
  expectTypeOf(gather('a', fileCreated)).toExtend<AnyWorkflow>()
  expectTypeOf(settle('b', ['file.*'])).toExtend<AnyWorkflow>()
})

it('a step result keeps its type', () => {
  const workflow = defineWorkflow({
    id: 'a',
    on: 'file.created',
    run: async ({ step, files }) => {
      const total = await step.run('sum', () => 7)
      expectTypeOf(total).toEqualTypeOf<number>()
      const named = await step.run(['name', 3], async ({ attempt, idempotencyKey, signal }) => {
        expectTypeOf(attempt).toEqualTypeOf<number>()
        expectTypeOf(idempotencyKey).toEqualTypeOf<string>()
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
        return { name: 'x' }
      })
      expectTypeOf(named).toEqualTypeOf<{ name: string }>()
      expectTypeOf(await step.sleep('pause', '1h')).toEqualTypeOf<void>()
      expectTypeOf(await files.list({ service: 'storage_a' })).toEqualTypeOf<Page>()
      expectTypeOf(await files.get({ service: 'storage_b', id: '1' })).toEqualTypeOf<FileDetails>()
      return { total, named }
    },
  })
  expectTypeOf(workflow).toExtend<Workflow<'file.created', { total: number; named: { name: string } }>>()
})

it('any workflow can be handed to the engine, whatever it runs on', () => {
  const run = () => null
  const workflows: AnyWorkflow[] = [
    defineWorkflow({ id: 'a', on: transferCompleted, where: (event) => event.data.bytes > 0, run }),
    defineWorkflow({ id: 'b', on: cron('0 3 * * *'), run: ({ tick }) => tick.missed }),
    defineWorkflow({ id: 'c', on: ['file.*', fileCreated], run: ({ event }) => event.id }),
  ]
  expectTypeOf(workflows).toEqualTypeOf<AnyWorkflow[]>()
})

it('misuse of defineWorkflow does not compile', () => {
  const misuse = () => {
    // @ts-expect-error: an id is missing.
    defineWorkflow({ on: 'file.created', run: () => null })
    // @ts-expect-error: a trigger is missing.
    defineWorkflow({ id: 'a', run: () => null })
    // @ts-expect-error: a cron workflow has no event.
    defineWorkflow({ id: 'a', on: cron('0 3 * * *'), run: ({ event }) => event })
    // @ts-expect-error: a workflow that runs on events has no tick.
    defineWorkflow({ id: 'a', on: 'file.created', run: ({ tick }) => tick })
    // @ts-expect-error: this is no way to catch up.
    cron('0 3 * * *', { catchUp: 'sometimes' })
    // @ts-expect-error: an event definition needs a schema.
    defineEvent('file.created', { data: { id: 'string' } })
    defineWorkflow({
      id: 'a',
      on: 'file.created',
      run: ({ step, files }) => {
        // @ts-expect-error: a step needs a name.
        void step.run(() => 1)
        // @ts-expect-error: there is no such effect.
        void step.run('a', () => 1, { effect: 'destroy' })
        // @ts-expect-error: there is no such storage.
        void files.list({ service: 'storage_z' })
        // @ts-expect-error: a file is named by its storage too.
        void files.delete({ id: '1' })
      },
    })
  }
  expectTypeOf(misuse).toBeFunction()
})

it('onFailure gets the error, the failed run and the event that caused it', () => {
  const created = defineEvent('file.created', { data: z.looseObject({ file: z.looseObject({ id: z.string() }) }) })
  defineWorkflow({
    id: 'careful',
    on: created,
    run: () => 1,
    onFailure: ({ error, failed, event, step }) => {
      expectTypeOf(error.message).toEqualTypeOf<string>()
      expectTypeOf(failed.id).toEqualTypeOf<string>()
      expectTypeOf(event.data.file.id).toEqualTypeOf<string>()
      return step.run('tell', () => 'told')
    },
  })
})
