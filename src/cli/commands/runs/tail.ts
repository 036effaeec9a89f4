import type { Command } from '@commander-js/extra-typings'
import { isFinished, type Run } from '../../../core/runs/run.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { systemClock } from '../../../core/time.ts'
import { countUpTo, duration } from '../../input/parse-option.ts'
import { withStore } from '../../open/open-project.ts'
import { follow } from '../../terminal/follow.ts'
import { formatText } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { describeCause, describeReason, describeRun, styleStatus } from './run-view.ts'

/** `upshot runs tail`: a line for each run and each change of its state, until Ctrl-C. */
export function define(command: Command, out: Output): void {
  command
    .option('--workflow <id>', 'only runs of this workflow')
    .option('--last <n>', 'begin with so many that are there', countUpTo(500), 10)
    .option('--for <duration>', 'end by itself after this long', duration)
    .action(({ workflow, last, for: forMs }) =>
      withStore((store) => {
        const tail = new RunTail(store, { workflow, last })
        return follow(out, { store, ...(forMs === undefined ? {} : { forMs }) }, async () =>
          (await tail.look()).map((run) => ({ data: describeRun(run), line: formatLine(run, out.paint) })),
        )
      }),
    )
}

const MAX_AT_ONCE = 500

/** Knows which state of which run was shown already. */
class RunTail {
  readonly #store: ReadStore
  readonly #filter: { workflow?: string }
  readonly #last: number
  readonly #shown = new Map<string, string>()
  #since: string | null = null

  constructor(store: ReadStore, { workflow, last }: { workflow: string | undefined; last: number }) {
    this.#store = store
    this.#filter = workflow === undefined ? {} : { workflow }
    this.#last = last
  }

  /** Runs that are new or in another state than when they were shown, oldest first. */
  async look(): Promise<Run[]> {
    const since = this.#since
    const newest = await this.#store.listRuns({ ...this.#filter, limit: since === null ? this.#last : MAX_AT_ONCE })
    this.#since ??= newest.at(-1)?.id ?? ''
    const recent = since === null ? newest : newest.filter((run) => run.id >= since)
    const ids = new Set(recent.map(({ id }) => id))
    const older = await Promise.all(
      [...this.#shown.keys()].filter((id) => !ids.has(id)).map((id) => this.#store.findRun(id)),
    )
    const changed = [...older.filter((run) => run !== null), ...recent.toReversed()].filter(
      (run) => this.#shown.get(run.id) !== stateOf(run),
    )
    for (const run of changed) this.#shown.set(run.id, stateOf(run))
    this.#forgetFinished(newest.at(-1)?.id ?? '')
    return changed
  }

  /**
   * Runs that the next look does not list any more are asked for one by one, so only those are kept
   * that may still change.
   */
  #forgetFinished(oldestListed: string): void {
    for (const [id, state] of this.#shown) {
      if (id < oldestListed && state.startsWith('finished')) this.#shown.delete(id)
    }
  }
}

function stateOf({ status, dueAt, attempt }: Run): string {
  return isFinished(status) ? `finished ${status}` : `${status} ${dueAt} ${attempt}`
}

function formatLine(run: Run, paint: Output['paint']): string {
  const now = systemClock.now()
  const style = styleStatus(run)
  const status = run.status.padEnd(9)
  const rest = [run.workflow, describeCause(run, now), describeReason(run, now)].filter((part) => part !== null)
  return `${run.id}  ${style ? paint(style, status) : status}  ${formatText(rest.join('  '), 160)}`
}
