import { createTask, getTasks } from 'node-cron'
import { expect, test } from 'vitest'
import { UpshotError } from '../../src/core/errors.ts'
import { parseCronLine } from '../../src/schedule/cron-line.ts'
import { cpuMsOf } from '../support/cpu-time.ts'

/** The next moments after an ISO moment, as ISO text. */
function nextMoments(expression: string, timezone: string, after: string, count: number): string[] {
  const nextMoment = parseCronLine(expression, timezone)
  const moments: string[] = []
  for (let last: number | null = Date.parse(after); moments.length < count; ) {
    last = nextMoment(last)
    if (last === null) break
    moments.push(new Date(last).toISOString().replace(':00.000Z', 'Z'))
  }
  return moments
}

test('a cron line with six fields counts seconds', () => {
  expect(nextMoments('*/20 59 23 * * *', 'UTC', '2026-05-01T23:59:20.500Z', 2)).toEqual([
    '2026-05-01T23:59:40.000Z',
    '2026-05-02T23:59Z',
  ])
})

test('a cron line that is due once in decades is found in milliseconds', async () => {
  const ms = await cpuMsOf(() => {
    expect(nextMoments('0 0 29 2 mon', 'Europe/Berlin', '2026-01-01T00:00:00Z', 1)).toEqual(['2044-02-28T23:00Z'])
    expect(nextMoments('0 0 1 1 *', 'Europe/Berlin', '2026-01-01T00:00:00Z', 1)).toEqual(['2026-12-31T23:00Z'])
  })
  expect(ms).toBeLessThan(500)
})

test("a cron line leaves nothing in node-cron's list of tasks", () => {
  const before = getTasks().size
  parseCronLine('0 3 * * *', 'UTC')
  expect(getTasks().size).toBe(before)
})

test('a nightly job whose time is skipped in spring runs at the moment of the change', () => {
  expect(nextMoments('30 2 * * *', 'Europe/Berlin', '2026-03-27T12:00:00Z', 3)).toEqual([
    '2026-03-28T01:30Z',
    '2026-03-29T01:00Z',
    '2026-03-30T00:30Z',
  ])
  const task = createTask('30 2 * * *', () => {}, { timezone: 'Europe/Berlin' })
  void task.destroy()
  const wholeDay = Array.from({ length: 24 * 60 }, (_, minute) => Date.parse('2026-03-28T23:00Z') + minute * 60_000)
  expect(wholeDay.some((moment) => task.match(new Date(moment)))).toBe(false)
})

test.each([
  ['61 * * * *', /minute "61" does not fit, it takes 0-59/],
  ['* 24 * * *', /hour "24" does not fit, it takes 0-23/],
  ['* * 0 * *', /day of month "0" does not fit/],
  ['0 0 30 2 *', /day of month "30" does not fit, it takes 1-31 where the month has that day/],
  ['* * * 13 *', /month "13" does not fit, it takes 1-12 or jan-dec/],
  ['* * * * 8', /day of week "8" does not fit, it takes 0-7/],
  ['60 * * * * *', /second "60" does not fit, it takes 0-59/],
  ['*/0 * * * *', /minute "\*\/0" does not fit/],
  ['99 99 * * *', /minute "99".*hour "99"/],
  ['* * * *', /five or six fields/],
  ['* * * * * * *', /five or six fields/],
  ['', /five or six fields/],
  ['@often', /is not a cron line/],
  ['0 3 * * * ; rm', /is not a cron line/],
  ['0 0 1-7 * 1#2', /No day ever fits/],
  ['*/61 * * * *', /minute "\*\/61" steps over all 60 values/],
  ['5-1 * * * *', /minute "5-1" ends before it begins/],
  ['0 3 * * fri-mon', /day of week "fri-mon" ends before it begins/],
  ['0 0 1-20,30-25 * *', /day of month "30-25" ends before it begins/],
  ['10-5 * * * * *', /second "10-5" ends before it begins/],
  ['0 */25 * * *', /hour "\*\/25" steps over all 24 values/],
])('the cron line %j is refused with what its field takes', (expression, message) => {
  const parse = () => parseCronLine(expression, 'UTC')
  expect(parse).toThrow(UpshotError)
  expect(parse).toThrow(expect.objectContaining({ code: 'invalid_workflow', message: expect.stringMatching(message) }))
})

test.each(['Mars/Olympus', '', 'Europe/Berlín'])('the unknown zone %j is refused with an example', (zone) =>
  expect(() => parseCronLine('0 3 * * *', zone)).toThrow(/is not a time zone.*"Europe\/Berlin"/),
)

test.each([
  '*/60 * * * *',
  '0 */24 * * *',
  '5-5 * * * *',
  '0 0 * jan-mar mon-fri',
  '0 0 * * 5-7',
  '0 0 * * fri-sun',
  '0 0 L-3 * *',
])('the cron line %s is accepted', (line) => expect(() => parseCronLine(line, 'UTC')).not.toThrow())
