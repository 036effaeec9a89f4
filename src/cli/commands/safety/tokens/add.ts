import { type Command, Option } from '@commander-js/extra-typings'
import { ACCESS_ROLES } from '../../../../core/access/role.ts'
import { parseDuration } from '../../../../core/time.ts'
import type { Cli } from '../../../command.ts'
import { call } from '../../../open/operations.ts'
import { refrain } from '../../../operate/act-command.ts'

/** `upshot tokens add <name>`: a key of the admin API for a program, shown once. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<name>', 'name of the token, which the audit log shows')
    .addOption(new Option('--role <role>', 'what it may do').choices(ACCESS_ROLES).default('viewer' as const))
    .option('--expires <duration>', 'when it ends, such as 90d, or never', '90d')
    .action((name, { role, expires: given }) =>
      project.withOperations(async (operations) => {
        const expires = given === 'never' ? null : given
        if (expires !== null) parseDuration(expires)
        if (out.given.dryRun) return refrain(out, `make the token ${name} with the role ${role}`)
        const { token, secret } = await call(operations, 'POST /tokens', { body: { name, role, expires } })
        out.result({ ...token, secret }, () => [secret])
        out.note(`It is shown once. It has the role ${role} and ends ${token.expiresAt ?? 'never'}.`)
      }),
    )
}
