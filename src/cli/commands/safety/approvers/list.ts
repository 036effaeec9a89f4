import { APPROVER_ROUTES } from '../../../../admin/contract/resources/safety/approvers.ts'
import { listCommand } from '../../../operate/list-command.ts'
import { formatMoment } from '../../../terminal/format-value.ts'

/** `upshot approvers list`: the people who may decide, removed ones too. */
export const define = listCommand(APPROVER_ROUTES, 'GET /approvers', {
  columns: (now) => [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'ROLES', value: ({ roles }) => roles.join(', ') },
    { title: 'KEY', value: ({ fingerprint }) => fingerprint },
    { title: 'SINCE', value: ({ addedAt }) => formatMoment(addedAt, now) },
    { title: 'REMOVED', value: ({ removedAt }) => formatMoment(removedAt, now) },
  ],
  empty: 'Nobody is registered: whoever can write the data directory may decide.',
})
