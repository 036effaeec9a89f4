import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../src/core/time.ts'
import { Turns } from '../../../src/engine/preview/turns.ts'

const PARKING = { isBusy: false, isClosed: false, idle: async () => {} }

/** The numbers of answers, in the order of their turns; `asked`: the rank of each. */
async function preview(asked: readonly number[], kind: 'new' | 'recorded'): Promise<number[]> {
  const turns = new Turns({ clock: new ManualClock(), parking: PARKING, isOpen: () => false })
  const told: number[] = []
  const waits = asked.map((rank, number) =>
    (kind === 'new' ? turns.wait(rank) : turns.wait(0, rank)).then(() => told.push(number)),
  )
  await Promise.all(waits)
  return told
}

test.each(['new', 'recorded'] as const)(
  '%s answers come by rank, and those of one rank as they were asked for',
  (kind) =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 5 })), async (asked) => {
        const byRank = asked.map((rank, number) => ({ rank, number })).toSorted((one, other) => one.rank - other.rank)
        expect(await preview(asked, kind)).toEqual(byRank.map(({ number }) => number))
      }),
    ),
)
