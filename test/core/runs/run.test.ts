import { expect, test } from 'vitest'
import {
  findObstacle,
  PAUSED_REASON,
  QUEUED_TICK_REASON,
  RUN_STATUSES,
  type RunOperation,
} from '../../../src/core/runs/run.ts'
import { NOW } from '../../support/fixtures.ts'

const possible = (operation: RunOperation) =>
  RUN_STATUSES.filter((status) => findObstacle(operation, { status, dueAt: null, reason: null }, NOW) === null)

test('a run can be canceled until it finishes, retried once failed or canceled, resumed while waiting', () => {
  expect(possible('cancel')).toEqual(['pending', 'running', 'waiting'])
  expect(possible('retry')).toEqual(['failed', 'canceled'])
  expect(possible('resume')).toEqual(['waiting'])
})

test('a run that goes on by itself cannot be resumed', () => {
  const waiting = { status: 'waiting', dueAt: null, reason: null } as const
  expect(findObstacle('resume', { ...waiting, dueAt: NOW }, NOW)).toContain('by itself')
  for (const reason of [PAUSED_REASON, QUEUED_TICK_REASON]) {
    expect(findObstacle('resume', { ...waiting, reason }, NOW)).toContain(reason)
  }
})

test('a run is resolved once it has failed, and once only', () => {
  expect(possible('resolve')).toEqual(['failed'])
  expect(possible('unresolve')).toEqual([])
  const resolution = { by: 'cli:ada', at: NOW, reason: 'copied by hand' }
  const resolved = { status: 'failed', dueAt: null, reason: null, resolution } as const
  expect(findObstacle('resolve', resolved, NOW)).toBe('it is resolved already')
  expect([findObstacle('unresolve', resolved, NOW), findObstacle('retry', resolved, NOW)]).toEqual([null, null])
})

test('a run that would end again at once cannot be retried', () => {
  const failed = { status: 'failed', dueAt: null, reason: null } as const
  expect(findObstacle('retry', { ...failed, deadline: NOW }, NOW)).toContain('fork or replay')
  expect(findObstacle('retry', { ...failed, deadline: NOW + 1 }, NOW)).toBeNull()
  const canceled = { status: 'canceled', dueAt: null, reason: 'canceled by event evt_1' } as const
  expect(findObstacle('retry', { ...canceled, isCanceledByRule: true }, NOW)).toContain('canceled by event evt_1')
  expect(findObstacle('retry', { ...canceled, isCanceledByRule: false }, NOW)).toBeNull()
})
