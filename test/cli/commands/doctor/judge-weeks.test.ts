import { expect, test } from 'vitest'
import { judgeWeeks } from '../../../../src/cli/commands/doctor/check-safety.ts'
import type { Retention } from '../../../../src/core/store/retention.ts'
import type { WeekRoom } from '../../../../src/core/store/server.ts'

const DAY = 86_400_000
const NOW = Date.UTC(2026, 10, 23, 12)
const [FROM, TO] = [Date.UTC(2026, 9, 19), Date.UTC(2026, 9, 26)]
const RETENTION: Retention = {
  runs: 30 * DAY,
  failures: 90 * DAY,
  refusals: 7 * DAY,
  deliveries: 90 * DAY,
  payloads: 90 * DAY,
  audit: null,
  effects: null,
  files: null,
}
const RUNS: WeekRoom = {
  kind: 'runs',
  kept: 6,
  oldest: { from: FROM, to: TO, bytes: 4_096 },
  until: Date.UTC(2026, 11, 21),
}
const judge = (week: Partial<WeekRoom>, retention: Partial<Retention> = {}, now = NOW) =>
  judgeWeeks({ weeks: [{ ...RUNS, ...week }] }, { ...RETENTION, ...retention }, now)[0]

test('the weeks that are kept, the next one to go and its day are told', () => {
  const found = '6 kept, next goes that of 2026-10-19 (4.1 kB) on 2026-11-25, made until 2026-12-21'
  expect(judge({})).toMatchObject({ check: 'weeks of runs', level: 'ok', found })
  // Rows of the ledger go with the longer of two ages.
  expect(judge({ kind: 'deliveries' })?.found).toContain('on 2027-01-24')
  expect(judge({ kind: 'payloads' })?.check).toBe('weeks of bodies')
})

test('a week that stays for ever, and a present week alone, are no fault', () => {
  expect(judge({}, { runs: null })).toMatchObject({ level: 'ok', found: expect.stringContaining('stays for ever') })
  expect(judge({ kept: 1, oldest: null })).toMatchObject({ level: 'ok', found: expect.stringContaining('the present') })
})

test.each([
  [{ until: null }, 'none is made'],
  [{ until: NOW + 6 * DAY }, 'made until 2026-11-29 only'],
  [{ oldest: { from: FROM - 7 * DAY, to: FROM, bytes: 0 } }, 'it is late'],
])('%j is found, with advice', (week, found) => {
  const finding = judge(week)
  expect(finding).toMatchObject({ level: 'warn', found: expect.stringContaining(found) })
  expect(finding?.fix).toContain('scheduler')
})
