import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { resolveAmong } from '../../../open/resolve-id.ts'
import { confirm } from '../../../terminal/confirm.ts'

/** `upshot tokens revoke <id>`: the next request with the token is refused. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<id>', 'id of the token, tok_…, or its beginning, or the name of the token').action((given) =>
    project.withStore(async (store) => {
      const valid = (await store.listTokens()).filter(({ revokedAt }) => revokedAt === null)
      const token = valid.find(({ name }) => name === given) ?? resolveAmong(given, valid)
      if (!token) {
        throw new UpshotError('not_found', `There is no token "${given}" that is not revoked.`, {
          details: { fix: 'List them with "upshot tokens list".' },
        })
      }
      const isConfirmed = await confirm(out, { will: `revoke the token ${token.name}` })
      if (isConfirmed) await store.revokeToken(token.id, commandClock.now())
      out.result({ id: token.id, name: token.name, revoked: isConfirmed }, () => [
        isConfirmed ? `The token ${token.name} is revoked.` : 'Nothing changed.',
      ])
    }),
  )
}
