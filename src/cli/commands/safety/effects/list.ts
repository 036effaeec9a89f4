import { EFFECT_ROUTES } from '../../../../admin/contract/resources/safety/effects.ts'
import { listCommand } from '../../../operate/list-command.ts'
import { addFile, EFFECT_NAMES, readFile } from './effect-filter.ts'
import { effectColumns } from './effect-view.ts'

const PLANNED = 'Nothing acts here now. What runs would do: upshot runs list --status planned'

/** `upshot effects list`: the newest rows of the effect ledger. */
export const define = listCommand(EFFECT_ROUTES, 'GET /effects', {
  ...EFFECT_NAMES,
  options: addFile,
  query: readFile,
  columns: effectColumns,
  empty: 'No effect matches.',
  after: ({ mode }) => (mode === 'plan' ? [PLANNED] : []),
})
