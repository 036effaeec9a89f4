import { expect, it } from 'vitest'
import { planRuns } from '../../../src/core/incoming/route.ts'

const ROUTES = [
  { eventType: '*', workflow: 'archive' },
  { eventType: 'file.created', workflow: 'intake' },
  { eventType: 'file.*', workflow: 'intake' },
  { eventType: 'transfer.failed', workflow: 'alert' },
]

it('planRuns lists each matching workflow once, in the order of the routes', () => {
  expect(planRuns('file.created', ROUTES)).toEqual(['archive', 'intake'])
  expect(planRuns('transfer.failed', ROUTES)).toEqual(['archive', 'alert'])
  expect(planRuns('something.new', ROUTES)).toEqual(['archive'])
})

it('planRuns lists nothing when no route matches', () => expect(planRuns('file.created', [])).toEqual([]))
