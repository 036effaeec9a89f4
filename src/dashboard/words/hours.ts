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
