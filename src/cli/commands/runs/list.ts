import type { Command } from '@commander-js/extra-typings'
import { FAILURE_ROUTES } from '../../../admin/contract/resources/failures.ts'
import { RUN_ROUTES } from '../../../admin/contract/resources/runs.ts'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { isFinished } from '../../../core/runs/run.ts'
import type { Cli } from '../../command.ts'
import { call } from '../../open/operations.ts'
import { listCommand, noteSearched, readList } from '../../operate/list-command.ts'
import { addSchemaOptions, readSchemaOptions } from '../../operate/schema-options.ts'
import { tailCommand } from '../../operate/tail-command.ts'
import { formatMoment, formatText } from '../../terminal/format-value.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { describeCause, describeReason, RUN_COLUMNS, styleStatus } from './run-view.ts'
import { addResolved, RUN_NAMES, readResolved } from './select-runs.ts'

export const list = listCommand(RUN_ROUTES, 'GET /runs', {
  ...RUN_NAMES,
  options: addResolved,
  query: readResolved,
  columns: RUN_COLUMNS,
  empty: 'No run yet. Start one with an event: upshot trigger file.created',
  noMatch: 'No run matches.',
  what: 'runs',
})

/** `upshot runs tail`: a line for each new or changed run, until Ctrl-C. */
export const tail = tailCommand('GET /runs', {
  only: ['workflow', '--workflow <id>', 'only runs of the workflow with this id'],
  place: ({ id }) => id,
  state: ({ status, dueAt, attempt }) => (isFinished(status) ? null : `${status} ${dueAt} ${attempt}`),
  line(run, paint) {
    const style = styleStatus(run)
    const status = run.status.padEnd(9)
    const rest = [run.workflow, describeCause(run), describeReason(run)].filter((part) => part !== null)
    return `${run.id}  ${style ? paint(style, status) : status}  ${formatText(rest.join('  '), 160)}`
  },
})

type Group = AnswerOf<'GET /failures'>['items'][number]

const { query: QUERY } = FAILURE_ROUTES['GET /failures']
const NAMES = { without: ['q', 'after'] }
/** Runs for a person that are counted; more are told as "or more". */
const MAX_COUNTED = 500

export function summary(command: Command, { out, project }: Cli): void {
  addSchemaOptions(command, QUERY, NAMES).action((options) =>
    project.withOperations(
      async (operations) => {
        // All of history, where no time is named.
        const query = { since: '1970-01-01T00:00:00Z', ...readSchemaOptions(QUERY, options, NAMES) }
        const page = await readList(operations, 'GET /failures', { input: { query }, limit: Number.POSITIVE_INFINITY })
        const { items, ...about } = page
        const groups = mergeStretches(items)
        const forPerson = { needsPerson: 'true', limit: MAX_COUNTED } as const
        const waiting = (await call(operations, 'GET /runs', { query: forPerson })).items.length
        const lines = () => formatTable(groups, COLUMNS, out)
        out.result(groups, lines, { waitingForPerson: waiting, ...about })
        noteSearched(out, page, { limit: Number.POSITIVE_INFINITY, what: 'failed runs' })
        out.note(groups.length === 0 ? 'No run has failed.' : NEXT)
        if (waiting > 0) out.note(describeWaiting(waiting))
      },
      { isList: true },
    ),
  )
}

/** One row for each kind: every page tells of its own stretch of history, the newest first. */
function mergeStretches(items: readonly Group[]): Group[] {
  const merged = new Map<string, Group>()
  for (const item of items) {
    const newer = merged.get(item.id)
    const { runs, resolved, firstAt } = item
    const both = newer && { ...newer, runs: newer.runs + runs, resolved: newer.resolved + resolved, firstAt }
    merged.set(item.id, both ?? item)
  }
  return [...merged.values()]
}

const NEXT =
  'For the runs of a group: "upshot runs list --group <id>". To retry them: "upshot runs retry --group <id>".'

function describeWaiting(count: number): string {
  const runs = count === 1 ? '1 run waits' : `${count}${count < MAX_COUNTED ? '' : ' or more'} runs wait`
  return `${runs} for a person: upshot runs list --waiting-for-me`
}

const COLUMNS: Column<Group>[] = [
  { title: 'GROUP', value: ({ id }) => id, cut: 'never' },
  { title: 'RUNS', value: ({ runs }) => runs, align: 'right' },
  { title: 'FIRST', value: ({ firstAt }) => formatMoment(firstAt), cut: 'never' },
  { title: 'LAST', value: ({ lastAt }) => formatMoment(lastAt), cut: 'never' },
  { title: 'WORKFLOW', value: ({ workflow }) => workflow },
  { title: 'STEP', value: ({ step }) => step },
  { title: 'ERROR', value: ({ name, message }) => `${name}: ${message}`, most: 200 },
]
