import { processEnvironment, TELLS_PARENT } from '../../project/config/environment.ts'
import { formatBytes, formatSpan } from './format-value.ts'
import { onInterrupt } from './on-interrupt.ts'
import type { Output } from './output.ts'

/** The progress line of a long command. */
interface Progress {
  /** `total` may become known later; null while it is unknown. */
  set(done: number, total?: number | null): void
  /** Removes the line. Call it in any case. */
  end(): void
  [Symbol.dispose](): void
}

interface ProgressOptions {
  /** The activity, such as `Downloading report.pdf`. */
  title: string
  /** Null if unknown. */
  total?: number | null
  unit: 'bytes' | 'count'
  now?: () => number
}

const BAR_CELLS = 24
/** Drawing more often makes a terminal flicker. */
const DRAW_EVERY_MS = 80

/** A progress bar on stderr, if that is a terminal; none under `--quiet` and `--json`. */
export function showProgress(
  out: Pick<Output, 'redraw'>,
  { title, total: known = null, unit, now = Date.now }: ProgressOptions,
): Progress {
  const startedAt = now()
  let total = known
  let drawnAt = Number.NEGATIVE_INFINITY
  const isHeard = processEnvironment()[TELLS_PARENT] !== undefined
  const end = () => out.redraw(null)
  const set: Progress['set'] = (done, newTotal) => {
    if (newTotal !== undefined) total = newTotal
    const moment = now()
    const isOver = total !== null && done >= total
    if (moment - drawnAt < DRAW_EVERY_MS && !isOver) return
    drawnAt = moment
    if (isHeard) process.send?.({ done, total })
    out.redraw(describeProgress({ title, done, total, unit, ms: moment - startedAt }))
  }
  set(0)
  return { set, end, [Symbol.dispose]: end }
}

/** Options of a long operation: a bar shows how far it is, and Ctrl-C ends it. */
export function showWork(out: Pick<Output, 'redraw'>, title: string) {
  return { ...showUnstoppable(out, title), signal: onInterrupt() }
}

/** The same for one that is not ended in order: it goes on without its asker. */
export function showUnstoppable(out: Pick<Output, 'redraw'>, title: string) {
  const progress = showProgress(out, { title, unit: 'count' })
  return {
    onProgress: ({ done, total }: { done: number; total: number | null }) => progress.set(done, total),
    end: progress.end,
    [Symbol.dispose]: progress.end,
  }
}

/** Text such as `Backing up  [████████················]  33 %  1.2 MB of 3.6 MB, 2.4 s left`. */
function describeProgress({
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
  if (total === null) return done === 0 ? `${title} …` : `${title}  ${amount(done)}`
  const part = total === 0 ? 1 : Math.min(1, done / total)
  const full = Math.round(part * BAR_CELLS)
  const bar = '█'.repeat(full) + '·'.repeat(BAR_CELLS - full)
  const left = part > 0 && part < 1 ? `, ${formatSpan(0, Math.round((ms / part) * (1 - part)))} left` : ''
  const percent = String(Math.floor(part * 100)).padStart(3)
  return `${title}  [${bar}] ${percent} %  ${amount(done)} of ${amount(total)}${left}`
}
