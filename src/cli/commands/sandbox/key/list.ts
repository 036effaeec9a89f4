import type { Command } from '@commander-js/extra-typings'
import { systemClock } from '../../../../core/time.ts'
import type { ApiKey } from '../../../../sandbox/index.ts'
import type { Cli } from '../../../command.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'
import { atSandbox, findSandbox } from '../control/sandbox-control.ts'
import { describeScope, showTime } from '../control/view.ts'

/** `upshot sandbox key list`: all keys, of each only the last four characters. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command).action(async (choice) => {
    const sandbox = await findSandbox(project, choice)
    const keys = (await sandbox.get<ApiKey[]>('/keys')).map(({ key, ...rest }) => ({ ...rest, ending: key.slice(-4) }))
    out.result(keys, () => formatTable(keys, columns(systemClock.now()), out))
    if (keys.length === 0) out.note('No API key yet. Create one with "upshot sandbox key new".')
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
