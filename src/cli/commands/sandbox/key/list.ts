import type { Command } from '@commander-js/extra-typings'
import { systemClock } from '../../../../core/time.ts'
import type { ApiKey } from '../../../../sandbox/index.ts'
import type { Output } from '../../../terminal/output.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'
import { atSandbox, findSandbox } from '../control/sandbox-control.ts'
import { describeScope, showTime } from '../control/view.ts'

/** `upshot sandbox key list`: never with a key itself. */
export function define(command: Command, out: Output): void {
  atSandbox(command).action(async (choice) => {
    const sandbox = await findSandbox(choice)
    const keys = (await sandbox.get<ApiKey[]>('/keys')).map(({ key, ...rest }) => ({ ...rest, ending: key.slice(-4) }))
    out.result(keys, () => formatTable(keys, columns(systemClock.now()), out.paint))
    if (keys.length === 0) out.note('No key yet. Make one with "upshot sandbox key new".')
  })
}

type KeyView = Omit<ApiKey, 'key'> & { ending: string }

function columns(now: number): Column<KeyView>[] {
  return [
    { title: 'ID', value: ({ id }) => id },
    { title: 'NAME', value: ({ name }) => name, most: 40 },
    { title: 'SCOPE', value: ({ scope }) => describeScope(scope), most: 60 },
    { title: 'KEY', value: ({ ending }) => `…${ending}` },
    { title: 'LAST USED', value: ({ lastUsedAt }) => showTime(lastUsedAt, now) },
    { title: 'REVOKED', value: ({ revokedAt }) => showTime(revokedAt, now) },
  ]
}
