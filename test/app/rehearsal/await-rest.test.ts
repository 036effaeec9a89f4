import { expect, test } from 'vitest'
import type { Rehearsal } from '../../../src/app/rehearsal/rehearsal.ts'
import { awaitRest } from '../../../src/app/rehearsal/rehearsal.ts'
import type { Run } from '../../../src/core/runs/run.ts'

type Known = Pick<Run, 'status' | 'dueAt' | 'awaits'>

/** A rehearsal whose runs go on at each move of its clock; it notes the moves. */
function rehearse(states: readonly Known[][]) {
  const moves: number[] = []
  const rehearsal = {
    now: 1_000,
    store: { listRuns: async () => states[Math.min(moves.length, states.length - 1)] },
    sandbox: { deliveries: { count: () => 0 } },
    forwardTo: async (moment: number) => void moves.push(moment),
  }
  const rest = (signal = AbortSignal.timeout(60_000)) => awaitRest(rehearsal as unknown as Rehearsal, signal)
  return { rest, moves }
}

const run = (status: Run['status'], dueAt: number | null = null, awaits = false): Known => ({ status, dueAt, awaits })

test('the clock goes to the earliest run that goes on by itself, past no wait for people', async () => {
  const { rest, moves } = rehearse([
    [run('waiting', 9_000), run('waiting', 5_000), run('waiting', 2_000, true), run('completed')],
    [run('waiting', 9_000), run('waiting', 2_000, true), run('failed')],
    [run('waiting', 2_000, true), run('waiting')],
  ])
  expect([await rest(), moves]).toEqual([true, [5_000, 9_000]])
})

test('work under way keeps the clock where it is, until the time is over', async () => {
  const { rest, moves } = rehearse([[run('running'), run('waiting', 5_000)]])
  expect([await rest(AbortSignal.timeout(800)), moves]).toEqual([false, []])
})
