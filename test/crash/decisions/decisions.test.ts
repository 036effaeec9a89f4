import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { verifyLedger } from '../../../src/core/safety/ledger/verify-ledger.ts'
import { DATABASES, type DatabaseName, inDatabase } from '../../support/databases.ts'
import { inStore } from '../../support/open-place.ts'
import { doomedProgram } from '../../support/program.ts'
import type { Moment } from '../doom.ts'
import { dieAtEveryCall } from '../every-call.ts'
import { holdRuns, readDecided } from './decision-scenario.ts'

const CHILD = doomedProgram(join(import.meta.dirname, 'doomed-decider.ts'))

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
  test.each<Moment>(['asked', 'answered'])(
    'no approval, denial or expiry is half done when its process is killed at any store call that was %s',
    async (moment) => {
      const seen = new Set<number>()
      const survivedAt = await dieAtEveryCall((call) => surviveCrash(database, { moment, call, seen }))
      expect(survivedAt).toBeGreaterThan(5)
      expect([...seen].sort()).toEqual([0, 1, 2, 3])
    },
    600_000,
  )
})

/** Kills a process at its n-th call and looks at what it left. True where it lived to its end. */
function surviveCrash(
  database: DatabaseName,
  { moment, call, seen }: { moment: Moment; call: number; seen: Set<number> },
): Promise<boolean> {
  return inDatabase(database, async (place) => {
    await inStore(place, holdRuns)
    const child = fork(CHILD, [JSON.stringify(place), moment, String(call)], { execArgv: [] })
    const [code] = await once(child, 'exit')
    await inStore(place, async (store) => {
      const decided = (await readDecided(store)).join('\n')
      expect(AFTER).toContain(decided)
      seen.add(AFTER.indexOf(decided))
      expect((await verifyLedger(store)).faults).toEqual([])
    })
    return code === 0
  })
}
