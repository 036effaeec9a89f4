import type { Command } from '@commander-js/extra-typings'
import type { Approver } from '../../../../core/safety/approval.ts'
import { fingerprintOf } from '../../../../core/safety/votes/vote-record.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { formatMoment, withIsoTimes } from '../../../terminal/format-value.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'

/** `upshot approvers list`: the people who may decide, removed ones too. */
export function define(command: Command, { out, project }: Cli): void {
  command.action(() =>
    project.withStore(async (store) => {
      const found = await store.listApprovers()
      out.result(
        found.map((each) => withIsoTimes({ ...each, fingerprint: fingerprintOf(each.publicKey) })),
        () => formatTable(found, columns(commandClock.now()), out),
      )
      if (found.length === 0) out.note('Nobody is registered: whoever can write the data directory may decide.')
    }),
  )
}

function columns(now: number): Column<Approver>[] {
  return [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'ROLES', value: ({ roles }) => roles.join(', ') },
    { title: 'KEY', value: ({ publicKey }) => fingerprintOf(publicKey) },
    { title: 'SINCE', value: ({ addedAt }) => formatMoment(addedAt, now) },
    { title: 'REMOVED', value: ({ removedAt }) => formatMoment(removedAt, now) },
  ]
}
