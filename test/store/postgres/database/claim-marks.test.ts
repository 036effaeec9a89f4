import { expect, test } from 'vitest'
import { ClaimMarks, mayGiveBack, type PassedRun } from '../../../../src/store/postgres/database/claim-marks.ts'
import { NOW } from '../../../support/fixtures.ts'

const passed = (id: string, part: Partial<PassedRun> = {}): PassedRun => ({
  id,
  passedTurn: 0,
  passedDue: null,
  isWhole: false,
  ...part,
})

/** Marks behind one claimed run of turn 0. */
function markedAt(id: string): ClaimMarks {
  const marks = new ClaimMarks()
  marks.note('any', marks.next('any', NOW), { passed: [passed(id)], limit: 1 })
  return marks
}

test('a claim that was under way when marks were dropped sets none', () => {
  const forgets: ((marks: ClaimMarks) => void)[] = [
    (marks) => marks.drop(),
    (marks) => marks.noteMade(0, 'run_1'),
    (marks) => marks.next('any', NOW + 1_000),
  ]
  for (const forget of forgets) {
    const marks = markedAt('run_5')
    const start = marks.next('any', NOW)
    forget(marks)
    marks.note('any', start, { passed: [passed('run_6')], limit: 1 })
    expect(marks.next('any', NOW + 1_000).turns).toEqual([])
  }
})

test('no more than 16 turns are marked', () => {
  const marks = new ClaimMarks()
  const claimed = Array.from({ length: 20 }, (_, n) => passed('run_1', { passedTurn: 2 * n }))
  marks.note('any', marks.next('any', NOW), { passed: claimed, limit: 20 })
  const next = marks.next('any', NOW)
  expect(next.turns).toEqual(Array.from({ length: 16 }, (_, n) => 2 * n))
  marks.note('any', next, { passed: [passed('run_2', { passedTurn: 30 })], limit: 1 })
  expect(marks.next('any', NOW).after.at(-1)).toBe('run_2')
})

test('runs with a slot move no mark: another process may let in an older one', () => {
  const marks = markedAt('run_5')
  marks.note('any', marks.next('any', NOW), { passed: [passed('run_7', { passedTurn: -1 })], limit: 1 })
  expect(marks.next('any', NOW).turns).toEqual([0])
})

test('writes that bring no run back leave the marks alone', () => {
  const lease = { runId: 'run_1', fence: 1, worker: 'wrk_1' }
  const resolved = { resolved: 1, canceled: [] }
  const canceled = { resolved: 0, canceled: [{ run: 'run_1', workflow: 'follow-up', reason: 'by a rule' }] }
  const calls: [Parameters<typeof mayGiveBack>, boolean][] = [
    [['releaseRun', [lease], undefined], true],
    [['saveCheckpoint', [lease], undefined], false],
    [['postponeRun', [lease], undefined], false],
    [['watchRun', [lease], true], false],
    [['watchRun', [lease], false], true],
    [['parkRun', [lease, { dueAt: NOW, reason: 'sleeps' }], undefined], false],
    [['parkRun', [lease, { dueAt: NOW, reason: 'waits', awaits: ['a'] }], undefined], true],
    [['saveMatches', [], { resolved: 0, canceled: [] }], false],
    [['saveMatches', [], resolved], true],
    [['saveMatches', [], canceled], true],
  ]
  for (const [call, expected] of calls) expect(mayGiveBack(...call), call[0]).toBe(expected)
})
