import { type Command, Option } from '@commander-js/extra-typings'
import { ACCESS_ROLES } from '../../../../core/access/role.ts'
import { planToken } from '../../../../core/access/token.ts'
import { type Duration, isoTime, parseDuration } from '../../../../core/time.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { confirm } from '../../../terminal/confirm.ts'

/** `upshot tokens add <name>`: a key of the admin API for a program, shown once. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<name>', 'name of the token, which the audit log shows')
    .addOption(new Option('--role <role>', 'what it may do').choices(ACCESS_ROLES).default('viewer' as const))
    .option('--expires <duration>', 'when it ends, such as 90d, or never', '90d')
    .action((name, { role, expires }) =>
      project.withStore(async (store) => {
        const now = commandClock.now()
        const expiresAt = expires === 'never' ? null : now + parseDuration(expires as Duration)
        const { token, secret } = planToken({ name, role, expiresAt }, now)
        if (out.given.dryRun) {
          await confirm(out, { will: `make the token ${name} with the role ${role}` })
          return out.result({ name, role, dryRun: true }, () => ['No token was made.'])
        }
        await store.saveToken(token)
        const ends = expiresAt === null ? null : isoTime(expiresAt)
        out.result({ id: token.id, name, role, expiresAt: ends, secret }, () => [secret])
        out.note(`It is shown once. It has the role ${role} and ends ${ends ?? 'never'}.`)
      }),
    )
}
