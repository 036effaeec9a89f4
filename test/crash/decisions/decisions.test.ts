import { fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyLedger } from '../../../src/core/safety/ledger/verify-ledger.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import type { Moment } from '../doom.ts'
import { dieAtEveryCall } from '../every-call.ts'
import { holdRuns, readDecided } from './decision-scenario.ts'

const CHILD = join(import.meta.dirname, 'doomed-decider.ts')

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

let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'upshot-crash-'))
  await inStore(join(folder, 'held'), holdRuns)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each<Moment>(['asked', 'answered'])(
  'no approval, denial or expiry is half done when its process is killed at any store call that was %s',
  async (moment) => {
    const seen = new Set<number>()
    const survivedAt = await dieAtEveryCall((call) => surviveCrash(moment, call, seen))
    expect(survivedAt).toBeGreaterThan(5)
    expect([...seen].sort()).toEqual([0, 1, 2, 3])
  },
  600_000,
)

/** Kills a process at its n-th call and looks at what it left. True where it lived to its end. */
async function surviveCrash(moment: Moment, call: number, seen: Set<number>): Promise<boolean> {
  const dataDir = join(folder, `${moment}-${call}`)
  cpSync(join(folder, 'held'), dataDir, { recursive: true })
  const child = fork(CHILD, [dataDir, moment, String(call)], {
    execArgv: [],
  })
  const [code] = await once(child, 'exit')
  await inStore(dataDir, async (store) => {
    const decided = (await readDecided(store)).join('\n')
    expect(AFTER).toContain(decided)
    seen.add(AFTER.indexOf(decided))
    expect((await verifyLedger(store)).faults).toEqual([])
  })
  rmSync(dataDir, { recursive: true, force: true })
  return code === 0
}

async function inStore(dataDir: string, act: (store: Store) => Promise<void>): Promise<void> {
  const store = openSqliteStore({ file: join(dataDir, 'upshot.db'), vaultKey: Buffer.alloc(32) })
  await act(store)
  await store.close()
}
