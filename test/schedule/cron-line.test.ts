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

test.each([
  ['*/15 * * * *', '2026-05-01T10:07:30Z', ['2026-05-01T10:15Z', '2026-05-01T10:30Z']],
  ['0 3 * * *', '2026-05-01T03:00:00Z', ['2026-05-02T03:00Z', '2026-05-03T03:00Z']],
  ['0 9-10 * * mon-fri', '2026-05-01T09:30:00Z', ['2026-05-01T10:00Z', '2026-05-04T09:00Z']],
  ['0 0 29 2 *', '2026-01-01T00:00:00Z', ['2028-02-29T00:00Z', '2032-02-29T00:00Z']],
  ['0 0 L * *', '2026-02-01T00:00:00Z', ['2026-02-28T00:00Z', '2026-03-31T00:00Z']],
  ['0 0 15W * *', '2026-08-01T00:00:00Z', ['2026-08-14T00:00Z', '2026-09-15T00:00Z']],
  ['0 0 * * 2#1', '2026-05-01T00:00:00Z', ['2026-05-05T00:00Z', '2026-06-02T00:00Z']],
  ['@monthly', '2026-05-01T00:00:00Z', ['2026-06-01T00:00Z', '2026-07-01T00:00Z']],
  ['30,10 8 * * *', '2026-05-01T08:05:00Z', ['2026-05-01T08:10Z', '2026-05-01T08:30Z']],
])('the cron line %s is due at the right moments after %s', (expression, after, moments) =>
  expect(nextMoments(expression, 'UTC', after, 2)).toEqual(moments),
)

test.each([
  ['0 3 * * *', 'Asia/Kolkata', '2026-05-01T21:30Z'],
  ['0 3 * * *', 'Pacific/Kiritimati', '2026-05-01T13:00Z'],
  ['0 3 * * *', 'America/Los_Angeles', '2026-05-01T10:00Z'],
  ['0 0 1 5 *', 'Pacific/Pago_Pago', '2026-05-01T11:00Z'],
])('the cron line %s is read in the zone %s', (expression, zone, moment) =>
  expect(nextMoments(expression, zone, '2026-05-01T00:00:00Z', 1)).toEqual([moment]),
)

test('a cron line with six fields counts seconds', () => {
  expect(nextMoments('*/20 59 23 * * *', 'UTC', '2026-05-01T23:59:20.500Z', 2)).toEqual([
    '2026-05-01T23:59:40.000Z',
    '2026-05-02T23:59Z',
  ])
})

test('a cron line needs day-of-month and day-of-week to match both', () => {
  expect(nextMoments('0 0 13 * fri', 'UTC', '2026-01-01T00:00:00Z', 3)).toEqual([
    '2026-02-13T00:00Z',
    '2026-03-13T00:00Z',
    '2026-11-13T00:00Z',
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

test('several times that are skipped in spring run once', () => {
  expect(nextMoments('*/10 2,3 * * *', 'Europe/Berlin', '2026-03-29T00:30:00Z', 2)).toEqual([
    '2026-03-29T01:00Z',
    '2026-03-29T01:10Z',
  ])
})

test('an hourly job runs every hour in spring and makes up for none', () => {
  expect(nextMoments('30 * * * *', 'Europe/Berlin', '2026-03-29T00:00:00Z', 3)).toEqual([
    '2026-03-29T00:30Z',
    '2026-03-29T01:30Z',
    '2026-03-29T02:30Z',
  ])
})

test('a nightly job whose time occurs twice in autumn runs the first time', () => {
  expect(nextMoments('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).toEqual([
    '2026-10-25T00:30Z',
    '2026-10-26T01:30Z',
  ])
})

test('a nightly job does not run again when the scheduler starts within the repeated hour', () => {
  expect(nextMoments('30 2 * * *', 'Europe/Berlin', '2026-10-25T01:15:00Z', 1)).toEqual(['2026-10-26T01:30Z'])
})

test('an hourly job runs in both hours of the same name in autumn', () => {
  expect(nextMoments('30 * * * *', 'Europe/Berlin', '2026-10-25T00:00:00Z', 3)).toEqual([
    '2026-10-25T00:30Z',
    '2026-10-25T01:30Z',
    '2026-10-25T02:30Z',
  ])
})

test('a job in the hour after the change in autumn runs at its time', () => {
  expect(nextMoments('0 3 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 1)).toEqual(['2026-10-25T02:00Z'])
})

test("a midnight job runs at one o'clock on a day that begins then", () => {
  expect(nextMoments('0 0 * * *', 'America/Santiago', '2026-09-05T12:00:00Z', 2)).toEqual([
    '2026-09-06T04:00Z',
    '2026-09-07T03:00Z',
  ])
})

test('an hourly job of one day runs again in the hour that repeats after midnight', () => {
  expect(nextMoments('30 * 4 4 *', 'America/Santiago', '2026-04-05T02:00:00Z', 2)).toEqual([
    '2026-04-05T02:30Z',
    '2026-04-05T03:30Z',
  ])
})

test('a job in a half hour that is skipped runs at the moment of the change', () => {
  expect(nextMoments('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00:00Z', 1)).toEqual(['2026-10-03T15:30Z'])
  expect(nextMoments('45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T00:00:00Z', 2)).toEqual([
    '2026-04-04T14:45Z',
    '2026-04-05T15:15Z',
  ])
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
])('the cron line %j is refused with what its field takes', (expression, message) => {
  const parse = () => parseCronLine(expression, 'UTC')
  expect(parse).toThrow(UpshotError)
  expect(parse).toThrow(expect.objectContaining({ code: 'invalid_workflow', message: expect.stringMatching(message) }))
})

test.each(['Mars/Olympus', '', 'Europe/Berlín'])('the unknown zone %j is refused with an example', (zone) =>
  expect(() => parseCronLine('0 3 * * *', zone)).toThrow(/is not a time zone.*"Europe\/Berlin"/),
)

test.each([
  ['*/61 * * * *', 'minute "*/61" steps over all 60 values'],
  ['5-1 * * * *', 'minute "5-1" ends before it begins'],
  ['0 3 * * fri-mon', 'day of week "fri-mon" ends before it begins'],
  ['0 0 1-20,30-25 * *', 'day of month "30-25" ends before it begins'],
  ['10-5 * * * * *', 'second "10-5" ends before it begins'],
  ['0 */25 * * *', 'hour "*/25" steps over all 24 values'],
])('the cron line %s is refused with its reason', (line, reason) => {
  expect(() => parseCronLine(line, 'UTC')).toThrow(reason)
})

test.each([
  '*/60 * * * *',
  '0 */24 * * *',
  '5-5 * * * *',
  '0 0 * jan-mar mon-fri',
  '0 0 * * 5-7',
  '0 0 * * fri-sun',
  '0 0 L-3 * *',
])('the cron line %s is accepted', (line) => expect(() => parseCronLine(line, 'UTC')).not.toThrow())
