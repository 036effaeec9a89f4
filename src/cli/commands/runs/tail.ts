import type { Command } from '@commander-js/extra-typings'
import { isFinished, type Run } from '../../../core/runs/run.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import type { Cli } from '../../command.ts'
import { countUpTo, parseMs } from '../../input/parse-option.ts'
import { commandClock } from '../../open/command-clock.ts'
import { follow } from '../../terminal/follow.ts'
import { formatText } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { describeCause, describeReason, describeRun, styleStatus } from './run-view.ts'

/** `upshot runs tail`: a line for each new or changed run, until Ctrl-C. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .option('--workflow <id>', 'only runs of the workflow with this id')
    .option('--last <n>', 'number of stored runs to begin with, 1 to 500', countUpTo(500), 10)
    .option('--for <duration>', 'stop after this long, such as 30s or 5m (default: at Ctrl-C)', parseMs)
    .action(({ workflow, last, for: forMs }) =>
      project.withStore((store) => {
        const tail = new RunTail(store, { workflow, last })
        return follow(out, { store, ...(forMs === undefined ? {} : { forMs }) }, async () =>
          (await tail.readChanged()).map((run) => ({ data: describeRun(run), line: formatLine(run, out.paint) })),
        )
      }),
    )
}

/** Newest runs that each read lists. */
const MAX_RUNS = 500

/** Remembers the last shown state of each run. */
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

  /** The runs that are new or have another state than shown, oldest first. */
  async readChanged(): Promise<Run[]> {
    const since = this.#since
    const newest = await this.#store.listRuns({ ...this.#filter, limit: since === null ? this.#last : MAX_RUNS })
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

  /** Forgets finished runs that are no longer listed. Each run kept costs a query per read. */
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
  const now = commandClock.now()
  const style = styleStatus(run)
  const status = run.status.padEnd(9)
  const rest = [run.workflow, describeCause(run, now), describeReason(run, now)].filter((part) => part !== null)
  return `${run.id}  ${style ? paint(style, status) : status}  ${formatText(rest.join('  '), 160)}`
}
