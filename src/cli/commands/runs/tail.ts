import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { UpshotError } from '../../../core/errors.ts'
import { isFinished } from '../../../core/runs/run.ts'
import type { Cli } from '../../command.ts'
import { countUpTo, parseMs } from '../../input/parse-option.ts'
import { commandClock } from '../../open/command-clock.ts'
import { call, type Operations } from '../../open/operations.ts'
import { follow } from '../../operate/follow.ts'
import { formatText } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { describeCause, describeReason, styleStatus } from './run-view.ts'

type Run = AnswerOf<'GET /runs/:id'>

/** `upshot runs tail`: a line for each new or changed run, until Ctrl-C. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .option('--workflow <id>', 'only runs of the workflow with this id')
    .option('--last <n>', 'number of stored runs to begin with, 1 to 500', countUpTo(500), 10)
    .option('--for <duration>', 'stop after this long, such as 30s or 5m (default: at Ctrl-C)', parseMs)
    .action(({ workflow, last, for: forMs }) =>
      project.withOperations((operations) => {
        const tail = new RunTail(operations, { workflow, last })
        return follow(out, { operations, ...(forMs === undefined ? {} : { forMs }) }, async () =>
          (await tail.readChanged()).map((run) => ({ data: run, line: formatLine(run, out.paint) })),
        )
      }),
    )
}

/** Newest runs that each read lists. */
const MAX_RUNS = 500

/** Remembers the last shown state of each run. */
class RunTail {
  readonly #operations: Operations
  readonly #filter: { workflow?: string }
  readonly #last: number
  readonly #shown = new Map<string, string>()
  #since: string | null = null

  constructor(operations: Operations, { workflow, last }: { workflow: string | undefined; last: number }) {
    this.#operations = operations
    this.#filter = workflow === undefined ? {} : { workflow }
    this.#last = last
  }

  /** The runs that are new or have another state than shown, oldest first. */
  async readChanged(): Promise<Run[]> {
    const since = this.#since
    const query = { ...this.#filter, limit: since === null ? this.#last : MAX_RUNS }
    const { items: newest } = await call(this.#operations, 'GET /runs', { query })
    this.#since ??= newest.at(-1)?.id ?? ''
    const recent = since === null ? newest : newest.filter((run) => run.id >= since)
    const ids = new Set(recent.map(({ id }) => id))
    const older = await Promise.all([...this.#shown.keys()].filter((id) => !ids.has(id)).map((id) => this.#find(id)))
    const changed = [...older.filter((run) => run !== null), ...recent.toReversed()].filter(
      (run) => this.#shown.get(run.id) !== stateOf(run),
    )
    for (const run of changed) this.#shown.set(run.id, stateOf(run))
    this.#forgetFinished(newest.at(-1)?.id ?? '')
    return changed
  }

  /** Null once retention has removed it. */
  #find(id: string): Promise<Run | null> {
    return call(this.#operations, 'GET /runs/:id', { params: { id } }).catch((error: unknown) => {
      if (error instanceof UpshotError && error.code === 'not_found') return null
      throw error
    })
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
