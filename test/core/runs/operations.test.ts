import { expect, test } from 'vitest'
import {
  findObstacle,
  PAUSED_REASON,
  QUEUED_TICK_REASON,
  RUN_STATUSES,
  type RunOperation,
} from '../../../src/core/runs/run.ts'
import { planFork, planReset } from '../../../src/core/runs/step.ts'
import { checkpoint, NOW } from '../../support/fixtures.ts'

const possible = (operation: RunOperation) =>
  RUN_STATUSES.filter((status) => findObstacle(operation, { status, dueAt: null, reason: null }) === null)

test('cancels what is not finished, retries what failed or was canceled, resumes what waits for a person', () => {
  expect(possible('cancel')).toEqual(['pending', 'running', 'waiting'])
  expect(possible('retry')).toEqual(['failed', 'canceled'])
  expect(possible('resume')).toEqual(['waiting'])
})

test('resumes no run that goes on by itself', () => {
  const waiting = { status: 'waiting', dueAt: null, reason: null } as const
  expect(findObstacle('resume', { ...waiting, dueAt: NOW })).toContain('by itself')
  for (const reason of [PAUSED_REASON, QUEUED_TICK_REASON]) {
    expect(findObstacle('resume', { ...waiting, reason })).toContain(reason)
  }
})

const failed = (key: string, position: number, finishedAt: number) =>
  checkpoint(key, { position, status: 'failed', startedAt: finishedAt - 3, finishedAt })

test('does the failed steps again behind which nothing began, and the one that ended the run', () => {
  const caught = failed('caught', 0, NOW)
  const after = checkpoint('after', { position: 1, startedAt: NOW, finishedAt: NOW + 1 })
  const sides = [failed('x', 2, NOW + 5), failed('y', 3, NOW + 6)]
  expect(planReset([caught, after, ...sides], null)).toEqual(['x', 'y'])
  expect(planReset([caught, after], { name: 'Error', message: '' })).toEqual([])
  expect(planReset([caught, after], { name: 'Error', message: '', step: 'caught' })).toEqual(['caught'])
})

test('takes over into a fork what is finished and began before its step', () => {
  const steps = [
    checkpoint('a'),
    failed('b', 1, NOW),
    checkpoint('nap', { position: 2, status: 'waiting', dueAt: NOW }),
    checkpoint('c', { position: 3 }),
  ]
  expect(planFork(steps, 'c')).toEqual(['a', 'b'])
  expect(planFork(steps, 'a')).toEqual([])
  expect(() => planFork(steps, 'd')).toThrow('no step "d"')
  expect(() => planFork([], 'd')).toThrow('no step "d"')
})
