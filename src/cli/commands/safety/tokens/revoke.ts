import { resolveAmong } from '../../../../admin/queries/resolve-id.ts'
import { actCommand } from '../../../operate/act-command.ts'

/** `upshot tokens revoke <id>`: the next request with the token is refused. */
export const define = actCommand('DELETE /tokens/:id', {
  argument: ['id', 'id of the token, tok_…, or its beginning, or the name of the token'],
  look: 'GET /tokens',
  will: (named, found) => `revoke the token ${nameOf(named, found?.items ?? [])}`,
  asks: () => [],
  data: (_, named, found) => ({ ...findToken(named, found?.items ?? []), revoked: true }),
  done: (_, named, found) => `The token ${nameOf(named, found?.items ?? [])} is revoked.`,
})

interface Token {
  id: string
  name: string
  revokedAt: string | null
}

function findToken(named: string, tokens: readonly Token[]): Token | undefined {
  const valid = tokens.filter(({ revokedAt }) => revokedAt === null)
  return valid.find(({ name }) => name === named) ?? resolveAmong(named, valid) ?? undefined
}

function nameOf(named: string, tokens: readonly Token[]): string {
  return findToken(named, tokens)?.name ?? named
}
