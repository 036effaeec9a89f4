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
  RUN_STATUSES.filter((status) => findObstacle(operation, { status, dueAt: null, reason: null }) === null)

test('a run can be canceled until it finishes, retried once failed or canceled, resumed while waiting', () => {
  expect(possible('cancel')).toEqual(['pending', 'running', 'waiting'])
  expect(possible('retry')).toEqual(['failed', 'canceled'])
  expect(possible('resume')).toEqual(['waiting'])
})

test('a run that goes on by itself cannot be resumed', () => {
  const waiting = { status: 'waiting', dueAt: null, reason: null } as const
  expect(findObstacle('resume', { ...waiting, dueAt: NOW })).toContain('by itself')
  for (const reason of [PAUSED_REASON, QUEUED_TICK_REASON]) {
    expect(findObstacle('resume', { ...waiting, reason })).toContain(reason)
  }
})
