import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import type { RunContext } from '../../../src/author/context.ts'

/** A random program of steps, waits and draws, for the tests of replays. */
export type Program =
  /** `turns` of the event loop until it ends; `isShared`: under a name that others use, too. */
  | { kind: 'step'; fails: boolean; turns: number; isShared: boolean }
  /** For an event that comes, or for one that never does. */
  | { kind: 'wait'; minutes: number; on: 'ping' | 'never' }
  /** Microtasks of the code's own. */
  | { kind: 'hops'; count: number }
  | { kind: 'sleep'; minutes: number }
  | { kind: 'draw' }
  | { kind: 'map'; count: number }
  | { kind: 'sequence' | 'all' | 'race' | 'any' | 'allSettled'; parts: Program[] }

export const { program } = fc.letrec<{ program: Program }>((tie) => ({
  program: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    fc.record({
      kind: fc.constant('step' as const),
      fails: fc.boolean(),
      turns: fc.integer({ min: 0, max: 2 }),
      isShared: fc.boolean(),
    }),
    fc.record({
      kind: fc.constant('wait' as const),
      minutes: fc.integer({ min: 1, max: 3 }),
      on: fc.constantFrom('ping' as const, 'never' as const),
    }),
    fc.record({ kind: fc.constant('hops' as const), count: fc.integer({ min: 1, max: 9 }) }),
    fc.record({ kind: fc.constant('sleep' as const), minutes: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ kind: fc.constant('draw' as const) }),
    fc.record({ kind: fc.constant('map' as const), count: fc.integer({ min: 1, max: 3 }) }),
    fc.record({
      kind: fc.constantFrom(
        'sequence' as const,
        'all' as const,
        'race' as const,
        'any' as const,
        'allSettled' as const,
      ),
      parts: fc.array(tie('program'), { minLength: 1, maxLength: 3 }),
    }),
  ),
}))

type Tell = (what: string) => void

/** Executes a program; `tell` hears of each outcome and draw in the order of the code. */
export async function execute(part: Program, path: string, context: RunContext, tell: Tell): Promise<unknown> {
  const { step, random } = context
  const child = (each: Program, index: number) => execute(each, `${path}.${index}`, context, tell)
  const noteEnd = (value: unknown) => {
    tell(`${path}: ${value}`)
    return value
  }
  switch (part.kind) {
    case 'step':
      return callStep(part, path, context).then(noteEnd, (error: Error) => {
        noteEnd(error.message)
        throw error
      })
    case 'sleep':
      return noteEnd((await step.sleep(path, `${part.minutes}m`)) ?? 'slept')
    case 'wait':
      return noteEnd((await step.waitFor(path, { on: part.on, timeout: `${part.minutes}m` }))?.type)
    case 'hops':
      for (let each = 0; each < part.count; each++) await null
      return noteEnd(random())
    case 'draw':
      return noteEnd(random())
    case 'map':
      return noteEnd(await step.map(path, [...Array(part.count).keys()], (n) => n, double, { parallel: 2 }))
    case 'sequence': {
      const ends: unknown[] = []
      for (const [index, each] of part.parts.entries()) ends.push(await child(each, index))
      return noteEnd(ends)
    }
    default: {
      const combine = Promise[part.kind].bind(Promise) as (all: Promise<unknown>[]) => Promise<unknown>
      return noteEnd(JSON.stringify(await combine(part.parts.map(child))))
    }
  }
}

const double = (n: number) => n * 2

function callStep(
  { fails, turns, isShared }: Extract<Program, { kind: 'step' }>,
  path: string,
  { step, random }: RunContext,
): Promise<unknown> {
  const act = async () => {
    for (let each = 0; each < turns; each++) await turn()
    if (fails) throw new Error(path)
    return [path, random()]
  }
  return step.run(isShared ? 'shared' : path, turns === 0 && !fails ? () => [path, random()] : act, {
    retry: { attempts: 1 },
  })
}
