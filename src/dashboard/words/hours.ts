import type { AnswerOf } from '../../admin/contract/routes.ts'

type Counted = Pick<AnswerOf<'GET /overview'>['hours'][number], 'at' | 'status' | 'runs'>

const HOUR = 3_600_000
const HOURS = 24

/** Runs of the last 24 hours, the present one included, by hour; hours without a run are there. */
export function foldHours(counted: readonly Counted[], now: number) {
  const first = Math.floor(now / HOUR) - HOURS + 1
  const sum = (hour: number, fits: (status: string) => boolean) =>
    counted
      .filter(({ at, status }) => Math.floor(Date.parse(at) / HOUR) === hour && fits(status))
      .reduce((total, { runs }) => total + runs, 0)
  return Array.from({ length: HOURS }, (_, index) => ({
    at: new Date((first + index) * HOUR).toISOString(),
    completed: sum(first + index, (status) => status === 'completed'),
    failed: sum(first + index, (status) => status === 'failed'),
    other: sum(first + index, (status) => status !== 'completed' && status !== 'failed'),
  }))
}

/** The hour of a moment on a clock, such as `14:00`, in UTC or in the browser's zone. */
export function nameHour(at: string, isUtc: boolean): string {
  if (isUtc) return at.slice(11, 16)
  const date = new Date(at)
  return [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':')
}

/** The top of an axis for counts up to `most`: even, so that its half is a count, too. */
export function ceilingOf(most: number): number {
  const zeros = 10 ** Math.floor(Math.log10(Math.max(1, most)))
  const tops = [1, 2, 4, 6, 8, 10].map((digit) => digit * zeros)
  return tops.find((top) => top >= most && top % 2 === 0) ?? most
}
