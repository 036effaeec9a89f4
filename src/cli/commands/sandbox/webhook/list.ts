import type { Command } from '@commander-js/extra-typings'
import type { Webhook } from '../../../../sandbox/index.ts'
import type { Cli } from '../../../command.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'
import { atSandbox, findSandbox } from '../control/sandbox-control.ts'
import { withoutSecrets } from '../control/view.ts'

type WebhookView = ReturnType<typeof withoutSecrets>

const COLUMNS: Column<WebhookView>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'STATE', value: ({ enabled }) => (enabled ? 'on' : 'off') },
  { title: 'EVENTS', value: ({ events }) => events.join(','), most: 40 },
  { title: 'STORAGES', value: ({ storages }) => storages?.join(',') ?? 'all' },
  { title: 'HEADER', value: ({ scheme }) => scheme.header },
  { title: 'URL', value: ({ url }) => url },
]

/** `upshot sandbox webhook list`: all webhooks, without their secrets. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command).action(async (choice) => {
    const sandbox = await findSandbox(project, choice)
    const webhooks = (await sandbox.get<Webhook[]>('/webhooks')).map(withoutSecrets)
    out.result(webhooks, () => formatTable(webhooks, COLUMNS, out))
    if (webhooks.length === 0) out.note('No webhook yet. Add one with "upshot sandbox webhook add <url>".')
  })
}
