import { expect, test } from 'vitest'
import { advise } from '../../../../../src/cli/commands/safety/plan/plan-view.ts'

type Plan = Parameters<typeof advise>[0][number]

const plan = (end: 'completed' | 'failed', source: 'live' | 'borrowed') =>
  ({ end: { kind: end }, effects: [], others: [{ source }] }) as unknown as Plan

test('a plan says where a result is of another file, and where a read of now hides what a run saw', () => {
  const both = { hasRecorded: true }
  expect(advise([plan('completed', 'live')], both)).toEqual([])
  expect(advise([plan('completed', 'live'), plan('completed', 'borrowed')], both)).toEqual([
    expect.stringContaining('--strict'),
  ])
  expect(advise([plan('failed', 'live')], both)).toEqual([expect.stringContaining('--reads recorded')])
  expect(advise([plan('failed', 'live')], { hasRecorded: false })).toEqual([])
})
