import { OPERATION_ROUTES } from '../../../../admin/contract/resources/operations.ts'
import { listCommand } from '../../../operate/list-command.ts'
import { formatMoment } from '../../../terminal/format-value.ts'

/** `upshot operations list`: operations on many runs or events, newest first. */
export const define = listCommand(OPERATION_ROUTES, 'GET /operations', {
  columns: (now) => [
    { title: 'OPERATION', value: ({ id }) => id, isId: true },
    { title: 'DOES', value: ({ kind, isDryRun }) => (isDryRun ? `${kind}, counts only` : kind) },
    { title: 'STATE', value: ({ status }) => status },
    { title: 'DONE', value: ({ done, total }) => `${done} of ${total}`, align: 'right' },
    { title: 'REFUSED', value: ({ refused }) => refused, align: 'right' },
    { title: 'BY', value: ({ by }) => by, most: 30 },
    { title: 'BEGUN', value: ({ createdAt }) => formatMoment(createdAt, now) },
  ],
  empty: 'There was no operation on many runs or events yet.',
})
