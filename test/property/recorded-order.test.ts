import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { testbed } from '../../src/testing/testbed.ts'
import { child, execute, type Program, program } from './support/programs.ts'

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

test(
  'every pass of a random program gets the outcomes of the pass before it, in the same order',
  { timeout: 60_000 },
  () =>
    fc.assert(
      fc.asyncProperty(program, async (part) => {
        const { workflow, passes } = flowOf(part)
        await using t = await testbed({ workflows: [workflow, child] })
        await t.send('go')
        await t.advance('2h')
        expect(t.run(workflow).status).toBe('completed')
        for (const [index, told] of passes.entries()) {
          const before = passes[index - 1] ?? []
          expect(told.slice(0, before.length)).toEqual(before)
        }
      }),
      { numRuns: 50 },
    ),
)
