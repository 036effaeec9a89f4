import { expectTypeOf, it } from 'vitest'
import {
  cron,
  type Duration,
  defineEvent,
  defineWorkflow,
  type Jsonify,
  RetryAfter,
  z,
} from '../../src/author/index.ts'
import type { StepApi } from '../../src/author/steps/step-api.ts'
import type { FileDetails } from '../../src/core/service/file.ts'

interface Tree {
  name: string
  children: Tree[]
}
interface DatedTree {
  at: Date
  children: DatedTree[]
}
type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

it('Jsonify leaves alone what JSON leaves alone', () => {
  expectTypeOf<Jsonify<'a' | 7 | true | null>>().toEqualTypeOf<'a' | 7 | true | null>()
  expectTypeOf<Jsonify<{ a: string; b?: number; c: { d: readonly [1, 'x'] } }>>().toEqualTypeOf<{
    a: string
    b?: number
    c: { d: readonly [1, 'x'] }
  }>()
  expectTypeOf<Jsonify<FileDetails>>().toEqualTypeOf<FileDetails>()
  expectTypeOf<Jsonify<Tree>>().toEqualTypeOf<Tree>()
  expectTypeOf<Jsonify<Json>>().toEqualTypeOf<Json>()
  expectTypeOf<Jsonify<unknown>>().toEqualTypeOf<unknown>()
  expectTypeOf<Jsonify<ReturnType<typeof JSON.parse>>>().toBeAny()
  expectTypeOf<Jsonify<void>>().toEqualTypeOf<void>()
  expectTypeOf<Jsonify<never>>().toEqualTypeOf<never>()
  expectTypeOf<Jsonify<Record<string, unknown>>>().toEqualTypeOf<Record<string, unknown>>()
  expectTypeOf<Jsonify<string & { brand: 'id' }>>().toEqualTypeOf<string & { brand: 'id' }>()
})

it('Jsonify types what JSON changes as what comes back', () => {
  expectTypeOf<Jsonify<Date>>().toEqualTypeOf<string>()
  expectTypeOf<Jsonify<URL>>().toEqualTypeOf<string>()
  expectTypeOf<Jsonify<Buffer>>().toEqualTypeOf<{ type: 'Buffer'; data: number[] }>()
  expectTypeOf<Jsonify<string | undefined>>().toEqualTypeOf<string | null>()
  expectTypeOf<Jsonify<{ at: Date; list: Date[]; pair: [Date, 1] }>>().toEqualTypeOf<{
    at: string
    list: string[]
    pair: [string, 1]
  }>()
  expectTypeOf<Jsonify<{ a: string | undefined; b: undefined; c: 1 }>>().toEqualTypeOf<{ a?: string; c: 1 }>()
  expectTypeOf<Jsonify<(string | undefined)[]>>().toEqualTypeOf<(string | null)[]>()
  expectTypeOf<Jsonify<{ at?: Date; kind: 'x' } | null>>().toEqualTypeOf<{ at?: string; kind: 'x' } | null>()
  expectTypeOf<Jsonify<{ [key: string]: unknown; at: Date }>['at']>().toEqualTypeOf<string>()
  expectTypeOf<Jsonify<DatedTree>['children'][number]['children'][number]['at']>().toEqualTypeOf<string>()
})

it('results of steps are typed as they come back from the journal', () => {
  const uses = async (step: StepApi) => {
    expectTypeOf(await step.run('a', () => 'done')).toEqualTypeOf<string>()
    expectTypeOf(await step.run('b', async () => new Date())).toEqualTypeOf<string>()
    expectTypeOf(await step.run('c', () => ({ at: new Date(), n: 1 }))).toEqualTypeOf<{ at: string; n: number }>()
    expectTypeOf(await step.run('d', async (): Promise<Tree> => ({ name: '', children: [] }))).toEqualTypeOf<Tree>()
    expectTypeOf(await step.run('e', () => {})).toEqualTypeOf<void>()
    const days = await step.map('f', [1], String, async (day, { attempt }) => new Date(day + attempt))
    expectTypeOf(days).toEqualTypeOf<string[]>()
    const fail = (): never => {
      throw new Error('always')
    }
    expectTypeOf(step.run('g', fail)).resolves.toEqualTypeOf<never>()
  }
  expectTypeOf(uses).toBeFunction()
})

it('a result that JSON cannot keep does not compile', () => {
  const misuse = (step: StepApi) => {
    // @ts-expect-error: a Map becomes {}.
    void step.run('a', () => new Map([[1, 2]]))
    // @ts-expect-error: a Set becomes {}.
    void step.run('a', async () => ({ seen: new Set<string>() }))
    // @ts-expect-error: JSON throws for a bigint.
    void step.run('a', () => [{ size: 1n }])
    // @ts-expect-error: a function is dropped.
    void step.run('a', () => ({ go: () => 1 }))
    // @ts-expect-error: a function is dropped, an optional one, too.
    void step.run('a', (): { go?: () => number } => ({}))
    // @ts-expect-error: a symbol is dropped.
    void step.run('a', () => Symbol('s'))
    // @ts-expect-error: an error becomes {}.
    void step.run('a', () => ({ error: new Error('lost') }))
    // @ts-expect-error: an array of bytes becomes an object.
    void step.run('a', () => new Uint8Array(2))
    // @ts-expect-error: a Map becomes {}.
    void step.map('a', [1], String, async () => new Map())
  }
  expectTypeOf(misuse).toBeFunction()
})

it('a duration is a number, or a text with known units', () => {
  const durations: Duration[] = [5, '500ms', '0.5h', '2 s', '1h 30m', '1h30m', '1d 2h 30m', '1w', `${2 * 3}m`]
  expectTypeOf(durations).toEqualTypeOf<Duration[]>()
  const misuse = (step: StepApi, text: string) => {
    // @ts-expect-error: there is no such unit.
    void step.sleep('a', '1 second')
    // @ts-expect-error: a unit is missing.
    void step.sleep('a', '30')
    // @ts-expect-error: any text may be none.
    void step.sleep('a', text)
    // @ts-expect-error: there is no such unit.
    cron('0 3 * * *', { within: '1 day' })
    // @ts-expect-error: there is no such unit.
    throw new RetryAfter('5 minutes')
  }
  expectTypeOf(misuse).toBeFunction()
})

it('filters and keys that return a promise do not compile', () => {
  const misuse = () => {
    // @ts-expect-error: a filter is synchronous.
    defineWorkflow({ id: 'a', on: 'file.created', where: async () => true, run: () => null })
    // @ts-expect-error: a key is synchronous.
    defineWorkflow({ id: 'a', on: 'file.created', singleton: { key: async () => 'k' }, run: () => null })
    // @ts-expect-error: a priority is synchronous.
    defineWorkflow({ id: 'a', on: 'file.created', priority: async () => 1, run: () => null })
    // @ts-expect-error: the key of an event is synchronous.
    defineEvent('a.b', { data: z.object({ id: z.string() }), keys: { id: async (data) => data.id } })
  }
  expectTypeOf(misuse).toBeFunction()
})
