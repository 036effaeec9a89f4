import { type Progress, shareOf, timeLeft } from '../../core/runs/told/progress.ts'

/** Progress in any form: with its moment as a number or as text. */
type Shown = Omit<Progress, 'at'>

/** A bar of so many columns, such as `███····· 34 %`. */
export function drawBar(progress: Shown, cells: number): string {
  const share = shareOf(progress)
  const full = Math.floor(share * cells)
  return `${'█'.repeat(full)}${'·'.repeat(cells - full)} ${String(Math.floor(share * 100)).padStart(3)} %`
}

/**
 * Progress in words, such as `3,412 of 10,000 files compared, 4 failed, 12/s, 9 min left`. Without
 * rate and time left where the run is not at work.
 */
export function describeProgress(progress: Shown, isAtWork: boolean): string {
  const { done, total, failed, note, rate } = progress
  const left = timeLeft(progress)
  const parts = [
    `${formatCount(done)} of ${formatCount(total)}${note === null ? '' : ` ${note}`}`,
    failed === 0 ? null : `${formatCount(failed)} failed`,
    rate === null || !isAtWork ? null : formatRate(rate),
    left === null || !isAtWork ? null : `${formatLeft(left)} left`,
  ]
  return parts.filter((part) => part !== null).join(', ')
}

function formatCount(count: number): string {
  return count.toLocaleString('en', { maximumFractionDigits: 1 })
}

function formatRate(perSecond: number): string {
  const [rate, unit] = perSecond < 0.5 ? [perSecond * 60, 'min'] : [perSecond, 's']
  return `${formatCount(rate < 10 ? rate : Math.round(rate))}/${unit}`
}

function formatLeft(ms: number): string {
  const seconds = Math.ceil(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
