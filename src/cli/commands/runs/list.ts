import { RUN_ROUTES } from '../../../admin/contract/resources/runs.ts'
import { listCommand } from '../../operate/list-command.ts'
import { runColumns } from './run-view.ts'
import { addResolved, RUN_NAMES, readResolved } from './select-runs.ts'

/** `upshot runs list`: the newest runs first. */
export const define = listCommand(RUN_ROUTES, 'GET /runs', {
  ...RUN_NAMES,
  options: addResolved,
  query: readResolved,
  columns: runColumns,
  empty: 'No run yet. Start one with an event: upshot trigger file.created',
  noMatch: 'No run matches.',
  what: 'runs',
})
