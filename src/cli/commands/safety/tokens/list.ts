import type { Command } from '@commander-js/extra-typings'
import type { AdminToken } from '../../../../core/access/token.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { formatMoment, withIsoTimes } from '../../../terminal/format-value.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'

/** `upshot tokens list`: keys of the admin API, newest first, revoked ones too. */
export function define(command: Command, { out, project }: Cli): void {
  command.action(() =>
    project.withStore(async (store) => {
      const found = (await store.listTokens()).map(({ hash: _, ...token }) => token)
      out.result(found.map(withIsoTimes), () => formatTable(found, columns(commandClock.now()), out))
      if (found.length === 0) out.note('There is no token yet. Make one with "upshot tokens add <name>".')
    }),
  )
}

function columns(now: number): Column<Omit<AdminToken, 'hash'>>[] {
  return [
    { title: 'ID', value: ({ id }) => id },
    { title: 'NAME', value: ({ name }) => name },
    { title: 'ROLE', value: ({ role }) => role },
    { title: 'MADE', value: ({ createdAt }) => formatMoment(createdAt, now) },
    { title: 'ENDS', value: ({ expiresAt }) => formatMoment(expiresAt, now) },
    { title: 'USED', value: ({ lastUsedAt }) => formatMoment(lastUsedAt, now) },
    { title: 'REVOKED', value: ({ revokedAt }) => formatMoment(revokedAt, now) },
  ]
}
