import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { verifyLedger } from '../../../src/core/safety/ledger/verify-ledger.ts'
import { DATABASES } from '../../support/databases.ts'
import { bundledProgram } from '../../support/program.ts'
import { dieInPlace } from '../die-in-place.ts'
import { dieAtEveryCall } from '../every-call.ts'
import { decideAll, holdRuns, readDecided } from './decision-scenario.ts'

const CHILD = bundledProgram(join(import.meta.dirname, 'doomed-decider.ts'))

const OPEN = 'open: 0 votes, 0 words, 0 actions, 0 ends; open, open'
const LEFT_OUT = 'open: 0 votes, 0 words, 0 actions, 0 ends; open'
const APPROVED = 'approved: 1 votes, 1 words, 1 actions, 1 ends; approved, moved'
const DENIED = 'denied: 1 votes, 1 words, 1 actions, 1 ends; denied, denied'
const EXPIRED = 'expired: 0 votes, 0 words, 0 actions, 1 ends; expired, expired'

/** The database by the number of decisions that were carried out. */
const AFTER = [
  [OPEN, OPEN, OPEN],
  [APPROVED, LEFT_OUT, OPEN, OPEN],
  [APPROVED, DENIED, LEFT_OUT, OPEN],
  [APPROVED, DENIED, EXPIRED, LEFT_OUT],
].map((lines) => lines.sort().join('\n'))

describe.each(DATABASES)('on %s', (database) => {
  test('no approval, denial or expiry is half done, at whatever store call its process dies', async () => {
    const seen = new Set<number>()
    const survive = dieInPlace(database, { child: CHILD, prepare: holdRuns, act: decideAll }, async (store) => {
      const decided = (await readDecided(store)).join('\n')
      expect(AFTER).toContain(decided)
      seen.add(AFTER.indexOf(decided))
      expect((await verifyLedger(store)).faults).toEqual([])
    })
    expect(await dieAtEveryCall(survive)).toBeGreaterThan(5)
    expect([...seen].sort()).toEqual([0, 1, 2, 3])
  }, 600_000)
})
