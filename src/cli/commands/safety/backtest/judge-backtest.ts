import type { Backtest } from '../../../../app/backtest/backtest.ts'
import { UpshotError } from '../../../../core/errors.ts'
import type { EXIT } from '../../../terminal/problem.ts'

/** Differences that a backtest may fail on. */
export const FAIL_ON = ['effects', 'ends', 'any', 'never'] as const
type FailOn = (typeof FAIL_ON)[number]

interface Rule {
  failOn: FailOn
  /** Share of the started and ended runs about which something must be said, from 0 to 1. */
  required: number
  /** Keys of groups that count as no difference. */
  accepted: ReadonlySet<string>
  /** Reads were refused by the limit of a key. */
  isThrottled: boolean
  /** The workflow, where none of its runs is recorded; null where some are. */
  unknown: string | null
}

/** The exit of a backtest, with what a person has to know about it. Null: success. */
export function judgeBacktest(
  found: Backtest,
  { failOn, required, accepted, isThrottled, unknown }: Rule,
): { exit: keyof typeof EXIT | null; notes: string[] } {
  if (unknown !== null) {
    const why = `No run of "${unknown}" is recorded: it is new, or has never run.`
    return { exit: 'notFound', notes: [`${why} What it would do: upshot plan <event> --workflow ${unknown}`] }
  }
  if (found.runs === 0) {
    return { exit: 'notFound', notes: ['No run matches: choose a longer time with --since, such as --since 30d.'] }
  }
  // The others never came to their code, or have not ended: no code can answer for them.
  const previewed = found.runs - found.notStarted - found.unfinished
  const share = previewed === 0 ? 0 : found.answered / previewed
  const isShort = share < required
  const notes = isShort
    ? [`Something can be said about ${formatShare(share)} of the runs; ${formatShare(required)} are required.`]
    : []
  if (isThrottled) return { exit: 'temporary', notes: [...notes, 'The limit of the key has refused reads.'] }
  const rest = isShort ? 'unknown' : null
  if (failOn === 'never') return { exit: rest, notes }
  const groups = found.groups.filter(({ key }) => !accepted.has(key))
  if (found.unsteady.length > 0 || groups.some(isFailure)) return { exit: 'failed', notes }
  const differs = groups.some(({ changes }) => counts(changes, failOn)) || found.refused.length > 0
  return { exit: differs ? 'difference' : rest, notes }
}

/** True where runs fail that have not failed before. */
function isFailure({ changes }: Backtest['groups'][number]): boolean {
  return changes.some(({ class: kind, to }) => kind === 'end' && to !== null && /^(failed|halted)/.test(to))
}

/** The last group gathers many kinds, so it always counts. */
function counts(changes: Backtest['groups'][number]['changes'], failOn: Exclude<FailOn, 'never'>): boolean {
  if (changes.length === 0 || failOn === 'any') return true
  return changes.some(({ class: kind }) => {
    if (kind === 'start') return true
    return failOn === 'ends' ? kind === 'end' : kind !== 'end' && kind !== 'output'
  })
}

export const REQUIRE = 'share of runs about which something must be said, such as 90% (default: all)'

/** Reads a share such as `0.9` or `90%`. */
export function parseShare(text: string): number {
  const share = text.endsWith('%') ? Number(text.slice(0, -1)) / 100 : Number(text)
  if (share >= 0 && share <= 1) return share
  throw new UpshotError('invalid_request', 'Give a share from 0 to 1, such as 0.9, or 90%.')
}

function formatShare(share: number): string {
  return `${Math.floor(share * 1_000) / 10} %`
}
