import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RunContext } from '../../src/author/context.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { crashEverywhere } from '../../src/testing/crash-everywhere.ts'
import { testbed } from '../../src/testing/testbed.ts'

type Program =
  /** `turns` of the event loop until it ends; `isShared`: under a name that others use, too. */
  | { kind: 'step'; fails: boolean; turns: number; isShared: boolean }
  | { kind: 'wait'; minutes: number }
  /** Microtasks of the code's own. */
  | { kind: 'hops'; count: number }
  | { kind: 'sleep'; minutes: number }
  | { kind: 'draw' }
  | { kind: 'map'; count: number }
  | { kind: 'sequence' | 'all' | 'race' | 'any' | 'allSettled'; parts: Program[] }

const { program } = fc.letrec<{ program: Program }>((tie) => ({
  program: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    fc.record({
      kind: fc.constant('step' as const),
      fails: fc.boolean(),
      turns: fc.integer({ min: 0, max: 2 }),
      isShared: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 3 }) }),
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
async function execute(part: Program, path: string, context: RunContext, tell: Tell): Promise<unknown> {
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
      return noteEnd(await step.waitFor(path, { on: 'never', timeout: `${part.minutes}m` }))
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

/** A workflow of a program that waits for all of its branches, with the outcomes of each pass. */
function flowOf(part: Program) {
  const passes: string[][] = []
  const workflow = defineWorkflow({
    id: 'flow',
    on: 'go',
    retry: { attempts: 1 },
    run: async (context) => {
      const told: string[] = []
      passes.push(told)
      const end = await execute(part, 'p', context, (what) => told.push(what)).then(
        () => 'ended',
        () => 'failed',
      )
      await context.step.sleep('last', '1h')
      return [end, ...told]
    },
  })
  return { workflow, passes }
}

const runs = { numRuns: 15 }

test(
  'every pass of a random program gets the outcomes of the pass before it, in the same order',
  { timeout: 60_000 },
  () =>
    fc.assert(
      fc.asyncProperty(program, async (part) => {
        const { workflow, passes } = flowOf(part)
        await using t = await testbed({ workflows: [workflow] })
        await t.send('go')
        await t.advance('2h')
        expect(t.run(workflow).status).toBe('completed')
        for (const [index, told] of passes.entries()) {
          const before = passes[index - 1] ?? []
          expect(told.slice(0, before.length)).toEqual(before)
        }
      }),
      { ...runs, numRuns: 100 },
    ),
)

test('a random program that crashes at any write has the effects of one that does not', { timeout: 60_000 }, () =>
  fc.assert(
    fc.asyncProperty(program, async (part) => {
      const { workflow } = flowOf(part)
      await crashEverywhere({ workflows: [workflow] }, async (t) => {
        await t.send('go')
        await t.advance('2h')
        const { status } = t.run(workflow)
        return {
          status,
          effects: t
            .effects()
            .map(({ key }) => key)
            .sort(),
        }
      })
    }),
    runs,
  ),
)
