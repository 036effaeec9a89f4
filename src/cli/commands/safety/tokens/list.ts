import { TOKEN_ROUTES } from '../../../../admin/contract/resources/access/tokens.ts'
import { listCommand } from '../../../operate/list-command.ts'
import { formatMoment } from '../../../terminal/format-value.ts'

/** `upshot tokens list`: keys of the admin API, newest first, revoked ones too. */
export const define = listCommand(TOKEN_ROUTES, 'GET /tokens', {
  columns: (now) => [
    { title: 'ID', value: ({ id }) => id },
    { title: 'NAME', value: ({ name }) => name },
    { title: 'ROLE', value: ({ role }) => role },
    { title: 'MADE', value: ({ createdAt }) => formatMoment(createdAt, now) },
    { title: 'ENDS', value: ({ expiresAt }) => formatMoment(expiresAt, now) },
    { title: 'USED', value: ({ lastUsedAt }) => formatMoment(lastUsedAt, now) },
    { title: 'REVOKED', value: ({ revokedAt }) => formatMoment(revokedAt, now) },
  ],
  empty: 'There is no token yet. Make one with "upshot tokens add <name>".',
})
