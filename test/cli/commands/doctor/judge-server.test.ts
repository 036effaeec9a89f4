import { expect, test } from 'vitest'
import { judgeServer } from '../../../../src/cli/commands/doctor/check-database.ts'

const GOOD = {
  version: '18.4',
  takesWrites: true,
  mayWrite: true,
  isReplicated: true,
  isDurable: true,
  connections: { used: 80, most: 100 },
  oldestTransactionS: 3_599,
  clockOffsetMs: -5_000,
}

const levels = (facts: Partial<typeof GOOD>) =>
  judgeServer({ ...GOOD, ...facts })
    .filter(({ level }) => level !== 'ok')
    .map(({ check, level, fix }) => [check, level, fix !== undefined])

test('a server that keeps what it answers passes each check', () => {
  expect(levels({})).toEqual([])
})

test.each([
  [{ takesWrites: false }, 'writes', 'fail'],
  [{ mayWrite: false }, 'writes', 'fail'],
  [{ isDurable: false }, 'durability', 'fail'],
  [{ isReplicated: false }, 'replication', 'warn'],
  [{ connections: { used: 81, most: 100 } }, 'connections', 'warn'],
  [{ oldestTransactionS: 3_600 }, 'transactions', 'warn'],
  [{ clockOffsetMs: 5_001 }, 'clock of the server', 'warn'],
])('%j is found, with advice', (facts, check, level) => {
  expect(levels(facts)).toEqual([[check, level, true]])
})
