import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { z } from 'zod'
import type { RunContext } from '../../../src/author/context.ts'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import type { StepContext } from '../../../src/author/steps/step-api.ts'
import { callable } from '../../../src/author/trigger.ts'
import type { Testbed } from '../../../src/testing/testbed.ts'

/** How plain code goes on. */
const WAYS = ['await', 'then', 'tick'] as const

/** How often an item of a map fails: the second attempt comes half a minute after the first. */
const FAILURES = { never: 0, once: 1, always: 2 } as const

/** In the name of a map that fails: which of its items begin depends on which fails first. */
const FAILS = 'fails'

/** The effects that a program has with and without a crash. */
export function listEffects(t: Testbed): string[] {
  const lasting = t.effects().filter(({ key }) => !key.includes(FAILS))
  return lasting.map(({ key, status }) => `${key} ${status}`).sort()
}

/** A random program of steps, waits and draws, for the tests of replays. */
export type Program =
  /** `turns` of the event loop until it ends; `isShared`: under a name that others use, too. */
  | { kind: 'step'; fails: boolean; turns: number; isShared: boolean }
  /** For an event that comes, or for one that never does. */
  | { kind: 'wait' | 'receive'; minutes: number; on: 'ping' | 'never' }
  /** Plain code: microtasks of its own, or ticks, and no step. */
  | { kind: 'plain'; count: number; how: (typeof WAYS)[number] }
  | { kind: 'sleep'; minutes: number }
  | { kind: 'draw' | 'now' | 'send' | 'patched' | 'invoke' }
  | { kind: 'map'; items: { fails: keyof typeof FAILURES; turns: number }[] }
  | { kind: 'sequence' | 'all' | 'race' | 'any' | 'allSettled'; parts: Program[] }

const kinds = <Kind extends Program['kind']>(...all: Kind[]) => fc.constantFrom(...all)
const minutes = fc.integer({ min: 1, max: 3 })
const turns = fc.integer({ min: 0, max: 2 })

/** `parts` in turn or beside each other. */
const combine = (parts: fc.Arbitrary<Program[]>): fc.Arbitrary<Program> =>
  fc.record({ kind: kinds('sequence', 'all', 'race', 'any', 'allSettled'), parts })

const item = fc.record({ fails: fc.constantFrom('never', 'once', 'always'), turns })

const { part } = fc.letrec<{ part: Program }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    fc.record({ kind: kinds('step'), fails: fc.boolean(), turns, isShared: fc.boolean() }),
    fc.record({ kind: kinds('plain'), count: fc.integer({ max: 7, min: 0 }), how: fc.constantFrom(...WAYS) }),
    fc.record({ kind: kinds('wait', 'receive'), minutes, on: fc.constantFrom('ping' as const, 'never' as const) }),
    fc.record({ kind: kinds('sleep'), minutes }),
    fc.record({ kind: kinds('draw', 'now', 'send', 'patched', 'invoke') }),
    fc.record({ kind: kinds('map'), items: fc.array(item, { minLength: 1, maxLength: 3 }) }),
    combine(fc.array(tie('part'), { minLength: 1, maxLength: 3 })),
  ),
}))

/** Code of several parts. */
export const program = combine(fc.array(part, { minLength: 2, maxLength: 4 }))

/** The workflow that programs invoke. */
export const child = defineWorkflow({ id: 'child', on: callable(z.string()), run: async ({ input }) => input })

type Tell = (what: string) => void

/** Executes a program; `tell` hears of each outcome and draw in the order of the code. */
export async function execute(part: Program, path: string, context: RunContext, tell: Tell): Promise<unknown> {
  const { step, random } = context
  const inner = (each: Program, index: number) => execute(each, `${path}.${index}`, context, tell)
  const noteEnd = (value: unknown) => {
    tell(`${path}: ${value}`)
    return value
  }
  const noteFailure = (end: Promise<unknown>) =>
    end.then(noteEnd, (error: Error) => {
      noteEnd(error.message)
      throw error
    })
  switch (part.kind) {
    case 'step':
      return noteFailure(callStep(part, path, context))
    case 'sleep':
      return noteEnd((await step.sleep(path, `${part.minutes}m`)) ?? 'slept')
    case 'wait':
      return noteEnd((await step.waitFor(path, { on: part.on, timeout: `${part.minutes}m` }))?.type)
    case 'receive':
      return noteEnd((await step.receive(path, { on: part.on, timeout: `${part.minutes}m` }))?.type)
    case 'plain':
      return noteEnd(await plain(part, path))
    case 'draw':
      return noteEnd(random())
    case 'now':
      return noteEnd(context.now())
    case 'send':
      return noteEnd((await step.send(path, 'told', { path })).id.length)
    case 'patched':
      return noteEnd(await step.patched(path))
    case 'invoke':
      return noteEnd(await step.invoke(path, child, path))
    case 'map':
      return noteFailure(callMap(part, path, context))
    case 'sequence': {
      const ends: unknown[] = []
      for (const [index, each] of part.parts.entries()) ends.push(await inner(each, index))
      return noteEnd(ends)
    }
    default: {
      const combine = Promise[part.kind].bind(Promise) as (all: Promise<unknown>[]) => Promise<unknown>
      return noteEnd(JSON.stringify(await combine(part.parts.map(inner))))
    }
  }
}

async function plain({ count, how }: Extract<Program, { kind: 'plain' }>, path: string): Promise<string> {
  if (how === 'await') for (let each = 0; each < count; each++) await null
  let chain = Promise.resolve()
  if (how === 'then') for (let each = 0; each < count; each++) chain = chain.then(() => {})
  await chain
  if (how === 'tick') for (let each = 0; each < count; each++) await new Promise<void>(process.nextTick)
  return path
}

function callMap({ items }: Extract<Program, { kind: 'map' }>, path: string, { step }: RunContext): Promise<unknown> {
  const act = async ({ fails, turns }: (typeof items)[number], { attempt }: StepContext) => {
    for (let each = 0; each < turns; each++) await turn()
    if (attempt <= FAILURES[fails]) throw new Error(path)
    return path
  }
  const retry = { attempts: 2, min: '30s', max: '30s' } as const
  const name = items.some(({ fails }) => fails === 'always') ? `${path} ${FAILS}` : path
  return step.map(name, items, (_, index) => index, act, { parallel: 2, retry })
}

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
