import { OPERATION_ROUTES } from '../../../admin/contract/resources/operations.ts'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { actCommand } from '../../operate/act-command.ts'
import { listCommand } from '../../operate/list-command.ts'
import { describeRefusals } from '../../operate/perform-operation.ts'
import { formatMoment, formatText } from '../../terminal/format-value.ts'

const ID = ['id', 'id of the operation, opr_…, or its beginning'] as const

export const list = listCommand(OPERATION_ROUTES, 'GET /operations', {
  columns: [
    { title: 'OPERATION', value: ({ id }) => id, isId: true },
    { title: 'DOES', value: ({ kind }) => kind },
    { title: 'STATE', value: ({ status }) => status },
    { title: 'DONE', value: ({ done, total }) => `${done} of ${total}`, align: 'right' },
    { title: 'REFUSED', value: ({ refused }) => refused, align: 'right' },
    { title: 'BY', value: ({ by }) => by, most: 30 },
    { title: 'BEGUN', value: ({ createdAt }) => formatMoment(createdAt) },
  ],
  empty: 'There was no operation on many runs or events yet.',
})

export const show = actCommand('GET /operations/:id', { argument: ID, done: describe })

export const abort = actCommand('POST /operations/:id/abort', {
  argument: ID,
  look: 'GET /operations/:id',
  will: (id) => `abort the operation ${id}`,
  done: ({ done }) => `Aborted after ${done}; what is done stays done.`,
})

function describe({ operation, refusals }: AnswerOf<'GET /operations/:id'>): string[] {
  const { id, kind, status, done, refused, total, runs, by, reason, createdAt, endedAt } = operation
  const filter = Object.entries(operation.filter).map(([name, value]) => `${name} ${formatText(String(value))}`)
  const makes = kind === 'replay' ? `, ${runs} new runs` : ''
  const why = reason === null ? '' : `: ${formatText(reason)}`
  return [
    `${id}  ${kind}  ${status}`,
    `  ${done} of ${total} done, ${refused} refused${makes}`,
    `  by ${by} ${formatMoment(createdAt)}${why}`,
    `  of ${filter.join(', ')}`,
    ...(endedAt === null ? [] : [`  over ${formatMoment(endedAt)}`]),
    ...describeRefusals(refused, refusals),
  ]
}
