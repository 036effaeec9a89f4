import { Option } from '@commander-js/extra-typings'
import { TOKEN_ROUTES } from '../../../admin/contract/resources/access/tokens.ts'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { resolveAmong } from '../../../admin/queries/resolve-id.ts'
import { ACCESS_ROLES } from '../../../core/access/role.ts'
import { UpshotError } from '../../../core/errors.ts'
import { actCommand } from '../../operate/act-command.ts'
import { listCommand } from '../../operate/list-command.ts'
import { formatMoment } from '../../terminal/format-value.ts'

export const list = listCommand(TOKEN_ROUTES, 'GET /tokens', {
  columns: [
    { title: 'ID', value: ({ id }) => id },
    { title: 'NAME', value: ({ name }) => name },
    { title: 'ROLE', value: ({ role }) => role },
    { title: 'MADE', value: ({ createdAt }) => formatMoment(createdAt) },
    { title: 'ENDS', value: ({ expiresAt }) => formatMoment(expiresAt) },
    { title: 'USED', value: ({ lastUsedAt }) => formatMoment(lastUsedAt) },
    { title: 'REVOKED', value: ({ revokedAt }) => formatMoment(revokedAt) },
  ],
  empty: 'There is no token yet. Make one with "upshot tokens add <name>".',
})

export const add = actCommand('POST /tokens', {
  argument: ['name', 'name of the token, which the audit log shows'],
  options: (command) =>
    command
      .addOption(new Option('--role <role>', 'what it may do').choices(ACCESS_ROLES).default('viewer'))
      .option('--expires <duration>', 'when it ends, such as 90d, or never', '90d'),
  body: ({ role, expires }, name) => ({
    name,
    role,
    expires: expires === 'never' ? null : expires,
  }),
  will: (name) => `make the token ${name}`,
  data: ({ token, secret }) => ({ ...token, secret }),
  done: ({ secret }) => secret,
  note: ({ token }) => `It is shown once. It has the role ${token.role} and ends ${token.expiresAt ?? 'never'}.`,
})

export const revoke = actCommand('DELETE /tokens/:id', {
  argument: ['id', 'id of the token, tok_…, or its beginning, or the name of the token'],
  look: 'GET /tokens',
  will: (named, found) => `revoke the token ${requireToken(named, found.items).name}`,
  asks: () => [],
  data: (_, named, found) => ({ ...findToken(named, found.items), revoked: true }),
  done: (_, named, { found }) => `The token ${findToken(named, found.items)?.name ?? named} is revoked.`,
})

type Token = AnswerOf<'GET /tokens'>['items'][number]

/** Nobody is asked about a token that is not there. */
function requireToken(named: string, tokens: readonly Token[]): Token {
  const token = findToken(named, tokens)
  if (token) return token
  throw new UpshotError('not_found', `There is no token "${named}" that is not revoked.`, {
    fix: 'List them with "upshot tokens list".',
  })
}

function findToken(named: string, tokens: readonly Token[]): Token | undefined {
  const valid = tokens.filter(({ revokedAt }) => revokedAt === null)
  return valid.find(({ name }) => name === named) ?? resolveAmong(named, valid) ?? undefined
}
