import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { crashEverywhere } from '../../src/testing/crash-everywhere.ts'
import { type Testbed, testbed } from '../../src/testing/testbed.ts'
import { child, execute, listEffects, type Program, program } from './support/programs.ts'

/** Happenings to the run of a program, in order. */
const history = fc.array(fc.constantFrom('minute' as const, 'ping' as const, 'pause' as const), { maxLength: 6 })
type Happening = typeof history extends fc.Arbitrary<(infer Each)[]> ? Each : never

/** A program before a last sleep, with the outcomes that each call of its code was told. */
function flowOf(part: Program) {
  const calls: string[][] = []
  const workflow = defineWorkflow({
    id: 'flow',
    on: 'go',
    retry: { attempts: 1 },
    run: async (context) => {
      const told: string[] = []
      calls.push(told)
      const tell = (what: string) => {
        told.push(what)
        context.log.info(what)
      }
      await execute(part, 'p', context, tell).catch(() => {})
      await context.step.sleep('last', '1d')
      tell(`${context.now()} ${context.random()} ${context.uuid()}`)
      return told
    },
  })
  return { workflow, calls }
}

async function drive(t: Testbed, happenings: readonly Happening[]): Promise<void> {
  await t.send('go')
  for (const each of happenings) {
    if (each === 'minute') await t.advance('1m')
    else if (each === 'ping') await t.send('ping')
    else {
      await t.pause('flow')
      await t.unpause('flow')
    }
  }
  await t.advance('1h')
}

test('a pass that goes on in memory has told its code what a replay tells it', () =>
  fc.assert(
    fc.asyncProperty(program, history, async (part, happenings) => {
      const { workflow, calls } = flowOf(part)
      await using t = await testbed({ workflows: [workflow, child], cachePasses: true })
      await drive(t, happenings)
      const kept = [...(calls[0] ?? [])]
      expect(calls.length).toBe(1)
      await t.restart()
      await t.advance('1d')
      expect(t.run(workflow).status).toBe('completed')
      const replayed = calls.at(-1) ?? []
      expect(replayed.slice(0, kept.length)).toEqual(kept)
      expect(t.run(workflow).output).toEqual(replayed)
      // Each line is written once, whichever pass came to it.
      expect(
        t
          .run(workflow)
          .logs()
          .map(({ message }) => message),
      ).toEqual(replayed)
    }),
    { numRuns: 50 },
  ))

test('a random program has the same journal with and without cached passes', () =>
  fc.assert(
    fc.asyncProperty(program, history, async (part, happenings) => {
      const ends = []
      for (const cachePasses of [true, false]) {
        const { workflow } = flowOf(part)
        await using t = await testbed({ workflows: [workflow, child], cachePasses })
        await drive(t, happenings)
        await t.advance('1d')
        const { status, steps } = t.run(workflow)
        ends.push({ status, steps: steps().map(({ key, status, attempt }) => [key, status, attempt]) })
      }
      expect(ends[0]).toEqual(ends[1])
    }),
    { numRuns: 50 },
  ))

test.each([
  ['in memory', true],
  ['without cached passes', false],
])('a random program %s that crashes at any write has the effects of one that does not', (_where, cachePasses) =>
  fc.assert(
    fc.asyncProperty(program, async (part) => {
      const { workflow } = flowOf(part)
      const scenario = async (t: Testbed) => {
        await t.send('go')
        await t.advance('2d')
        return { status: t.run(workflow).status, effects: listEffects(t) }
      }
      await crashEverywhere({ workflows: [workflow, child], cachePasses }, scenario, { compareEffects: false })
    }),
    { numRuns: 8 },
  ),
)
