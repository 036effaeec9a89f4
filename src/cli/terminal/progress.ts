import { formatBytes, formatSpan } from './format-value.ts'
import type { Output } from './output.ts'

/** What a long command has done so far. */
export interface Progress {
  /** `total` may become known on the way; null while it is not. */
  set(done: number, total?: number | null): void
  /** Takes the line away. Call it whatever happens. */
  end(): void
  [Symbol.dispose](): void
}

export interface ProgressOptions {
  /** What is being done, such as `Downloading report.pdf`. */
  title: string
  /** Null where it is not known. */
  total?: number | null
  unit: 'bytes' | 'count'
  now?: () => number
}

const BAR_CELLS = 24
/** A terminal that is told more often than this only flickers. */
const DRAW_EVERY_MS = 80

/** A bar on stderr; shows nothing where that is no terminal, or under `--quiet` and `--json`. */
export function showProgress(
  out: Pick<Output, 'redraw'>,
  { title, total: known = null, unit, now = Date.now }: ProgressOptions,
): Progress {
  const startedAt = now()
  let total = known
  let drawnAt = Number.NEGATIVE_INFINITY
  const end = () => out.redraw(null)
  const set: Progress['set'] = (done, newTotal) => {
    if (newTotal !== undefined) total = newTotal
    const moment = now()
    const isOver = total !== null && done >= total
    if (moment - drawnAt < DRAW_EVERY_MS && !isOver) return
    drawnAt = moment
    out.redraw(describeProgress({ title, done, total, unit, ms: moment - startedAt }))
  }
  set(0)
  return { set, end, [Symbol.dispose]: end }
}

/** Such as `Backing up  [████████················]  33 %  1.2 MB of 3.6 MB, 2.4 s to go`. */
export function describeProgress({
  title,
  done,
  total,
  unit,
  ms,
}: {
  title: string
  done: number
  total: number | null
  unit: ProgressOptions['unit']
  ms: number
}): string {
  const amount = (count: number) => (unit === 'bytes' ? formatBytes(count) : String(count))
  if (total === null) return `${title}  ${amount(done)}`
  const part = total === 0 ? 1 : Math.min(1, done / total)
  const full = Math.round(part * BAR_CELLS)
  const bar = '█'.repeat(full) + '·'.repeat(BAR_CELLS - full)
  const left = part > 0 && part < 1 ? `, ${formatSpan(0, Math.round((ms / part) * (1 - part)))} to go` : ''
  return `${title}  [${bar}] ${String(Math.floor(part * 100)).padStart(3)} %  ${amount(done)} of ${amount(total)}${left}`
}
