import { RUN_ROUTES } from '../../../admin/contract/resources/runs.ts'
import { isFinished } from '../../../core/runs/run.ts'
import { commandClock } from '../../open/command-clock.ts'
import { listCommand } from '../../operate/list-command.ts'
import { tailCommand } from '../../operate/tail-command.ts'
import { formatText } from '../../terminal/format-value.ts'
import { describeCause, describeReason, runColumns, styleStatus } from './run-view.ts'
import { addResolved, RUN_NAMES, readResolved } from './select-runs.ts'

/** `upshot runs list`: the newest runs first. */
export const list = listCommand(RUN_ROUTES, 'GET /runs', {
  ...RUN_NAMES,
  options: addResolved,
  query: readResolved,
  columns: runColumns,
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
    const now = commandClock.now()
    const style = styleStatus(run)
    const status = run.status.padEnd(9)
    const rest = [run.workflow, describeCause(run, now), describeReason(run, now)].filter((part) => part !== null)
    return `${run.id}  ${style ? paint(style, status) : status}  ${formatText(rest.join('  '), 160)}`
  },
})
