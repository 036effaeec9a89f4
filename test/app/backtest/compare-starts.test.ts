import { expect, test } from 'vitest'
import { compareStarts } from '../../../src/app/backtest/compare-starts.ts'
import { imagineRun } from '../../../src/app/preview/plan-event.ts'
import { cron } from '../../../src/author/cron.ts'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { findUnstarted } from '../../../src/engine/preview/preview-run.ts'

const DAY = 86_400_000
const since = Date.UTC(2026, 0, 1)
const stretch = { since, until: since + 7 * DAY }
const of = (schedule: ReturnType<typeof cron> | null, limits: string | null = null) => ({
  eventTypes: [],
  schedule,
  limits,
})
const compare = async (was: ReturnType<typeof of>, is: ReturnType<typeof of>) =>
  (await compareStarts(null, { was, is, known: [] }, stretch)).map(({ key, count }) => `${count} ${key}`)

test('a changed cron line is told with the moments that only one of both has', async () => {
  expect(await compare(of(cron('0 3 * * *')), of(cron('0 3 * * *')))).toEqual([])
  expect(await compare(of(cron('0 3 * * *')), of(cron('0 3 30 2 *'.replace('30 2', '29 2'))))).toEqual([
    expect.stringMatching(/^7 ~ start cron 0 3 \* \* \* \(UTC.* → 0 3 29 2 \*/),
  ])
  expect(await compare(of(cron('0 3 * * *')), of(cron('0 3 * * *', { overlap: 'skip' })))).toEqual([
    expect.stringMatching(/^0 ~ start cron .*overlap queue.* → .*overlap skip/),
  ])
  expect(await compare(of(null), of(cron('0 */12 * * *')))).toEqual([expect.stringMatching(/^14 \+ start 0 \*\/12/)])
  expect(await compare(of(null, '{}'), of(null, '{"singleton":true}'))).toEqual([
    '0 ~ start limits {} → {"singleton":true}',
  ])
})

test('a tick starts no code without a cron line, or one for other accounts; a tick by hand does', () => {
  const of = (on: ReturnType<typeof cron> | string) => defineWorkflow({ id: 'nightly', on, run: () => {} })
  const tick = { kind: 'tick', account: 'acme', scheduledFor: since, lastRunAt: null, missed: 0 } as const
  const claim = { ...imagineRun({ type: 'a' } as never, 'nightly', since), cause: tick, origin: 'tick' } as const
  expect(findUnstarted(of(cron('0 3 * * *', { account: 'acme' })), claim)).toBeNull()
  expect(findUnstarted(of(cron('0 3 * * *')), claim)).toMatchObject({ by: 'tick of acme' })
  expect(findUnstarted(of('file.created'), claim)).toEqual({ by: 'tick', on: 'file.created' })
  expect(findUnstarted(of('file.created'), { ...claim, origin: 'manual' })).toBeNull()
})
