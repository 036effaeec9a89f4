import type { Notice } from '../../core/notices.ts'

/** Runs whose steps are remembered; the oldest goes first. */
const MAX_RUNS = 1_000
/** Steps that a bar shows. */
const MAX_STEPS = 12
/** From an instant to the longest step of the run. */
const LEVELS = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'] as const

/** Remembers how long the steps of unfinished runs took, for the line at their end. */
export class StepBars {
  readonly #byRun = new Map<string, number[]>()

  note(notice: Notice): void {
    if (notice.kind !== 'step.completed') return
    const known = this.#byRun.get(notice.run)
    if (known) known.push(notice.ms)
    else this.#byRun.set(notice.run, [notice.ms])
    if (this.#byRun.size <= MAX_RUNS) return
    const [oldest = ''] = this.#byRun.keys()
    this.#byRun.delete(oldest)
  }

  /** A character per step, by its share of the longest one; empty for a run without steps. */
  take(run: string): string {
    const times = this.#byRun.get(run) ?? []
    this.#byRun.delete(run)
    const longest = Math.max(1, ...times)
    const shown = times.slice(0, MAX_STEPS).map((ms) => LEVELS[Math.round((ms / longest) * (LEVELS.length - 1))])
    return shown.length === 0 ? '' : `▕${shown.join('')}${times.length > MAX_STEPS ? '…' : ''}`
  }
}
