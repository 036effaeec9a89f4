import { type Command, Option } from '@commander-js/extra-typings'
import { requireEndpoint } from '../../../admin/queries/require-row.ts'
import { resolveAmong } from '../../../admin/queries/resolve-id.ts'
import { UpshotError } from '../../../core/errors.ts'
import { STORAGES } from '../../../core/service/storage.ts'
import type { Webhook } from '../../../sandbox/index.ts'
import { readSecret } from '../../input/read-source.ts'
import {
  addSecretOptions,
  parseHeader,
  parsePatterns,
  parseScheme,
  SCHEME_HELP,
  withHeader,
} from '../../input/signing-options.ts'
import type { Project } from '../../open/open-project.ts'
import type { Column } from '../../terminal/table.ts'
import { atSandbox, doConfirmed, isRehearsal, sandboxCommand, showRows } from './sandbox-command.ts'
import type { SandboxControl } from './sandbox-control.ts'

export const add = sandboxCommand(
  (command) =>
    addSecretOptions(
      command
        .argument('<address>', 'URL that receives the deliveries, such as http://127.0.0.1:4700/hooks/shop-…')
        .addOption(
          new Option('--events <patterns>', 'event types and families to send, such as file.*,transfer.completed')
            .argParser(parsePatterns)
            .default<string[]>(['*'], '*'),
        )
        .addOption(new Option('--storage <storages...>', 'only events of these storages').choices(STORAGES))
        .addOption(new Option('--scheme <scheme>', SCHEME_HELP).argParser(parseScheme))
        .option('--header <name>', 'name of the signature header (default: that of the scheme)', parseHeader),
    ),
  async ({ out, sandbox }, { events, storage, scheme, header, ...source }, address) => {
    const secret = await readSecret(source)
    if (isRehearsal(out, `register ${address} for ${events.join(', ')}`)) return
    const { SCHEME_PRESETS } = await import('../../../core/incoming/signature.ts')
    const webhook = await sandbox.post<Webhook>('/webhooks', {
      url: address,
      events,
      storages: storage ?? null,
      scheme: withHeader(scheme ?? SCHEME_PRESETS.hex, header),
      ...(secret === undefined ? {} : { secret }),
    })
    const made = secret === undefined ? (webhook.secrets[0] ?? null) : null
    out.result({ ...withoutSecrets(webhook), secret: made }, () => [
      `${webhook.id}  ${webhook.url}`,
      ...(made === null ? [] : [`secret  ${made}`]),
    ])
    out.note(`Check it with "upshot sandbox probe ${webhook.id}".`)
  },
)

type WebhookView = ReturnType<typeof withoutSecrets>

const LIST_COLUMNS: Column<WebhookView>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'STATE', value: ({ enabled }) => (enabled ? 'on' : 'off') },
  { title: 'EVENTS', value: ({ events }) => events.join(','), most: 40 },
  { title: 'STORAGES', value: ({ storages }) => storages?.join(',') ?? 'all' },
  { title: 'HEADER', value: ({ scheme }) => scheme.header },
  { title: 'URL', value: ({ url }) => url },
]

export const list = atSandbox(async ({ out, sandbox }) => {
  const webhooks = (await sandbox.get<Webhook[]>('/webhooks')).map(withoutSecrets)
  showRows(out, webhooks, LIST_COLUMNS, 'No webhook yet. Add one with "upshot sandbox webhook add <url>".')
})

export const remove = sandboxCommand(takeWebhook, async (at, _, name) => {
  const { id, url } = await findWebhook(at, name)
  await doConfirmed(at.out, {
    will: `remove the webhook ${url}, and fail its pending deliveries`,
    act: () => at.sandbox.delete(`/webhooks/${id}`),
    data: { id, url },
    is: 'removed',
    done: `Removed the webhook ${url}.`,
  })
})

export function takeWebhook(command: Command) {
  return command.argument('<webhook>', 'id or URL of the webhook, or name of an endpoint of the project')
}

/** A webhook with the number of its secrets instead of their values. */
function withoutSecrets({ secrets, ...webhook }: Webhook): Omit<Webhook, 'secrets'> & { secrets: number } {
  return { ...webhook, secrets: secrets.length }
}

/**
 * The webhook with this id, beginning of an id or URL, or for the endpoint with this name. Throws
 * `not_found`.
 */
export async function findWebhook(
  { sandbox, project }: { sandbox: SandboxControl; project: Project },
  name: string,
): Promise<Webhook> {
  const all = await sandbox.get<Webhook[]>('/webhooks')
  const named = all.find(({ url }) => url === name) ?? resolveAmong(name, all)
  if (named !== null) return named
  if (/^whk_|^https?:/.test(name)) throw refuseWebhook(`There is no webhook ${name}.`)
  const { path } = await project.withStore((store) => requireEndpoint(store, name))
  const found = all.find(({ url }) => url.endsWith(`/hooks/${path}`))
  if (found !== undefined) return found
  throw refuseWebhook(`The sandbox has no webhook for the endpoint "${name}".`)
}

function refuseWebhook(message: string): UpshotError {
  return new UpshotError('not_found', message, {
    fix: 'List the webhooks with "upshot sandbox webhook list", or add one with "upshot sandbox webhook add <url>".',
  })
}
