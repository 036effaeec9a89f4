import { type Command, Option } from '@commander-js/extra-typings'
import { STORAGES } from '../../../../core/service/storage.ts'
import type { Webhook } from '../../../../sandbox/index.ts'
import type { Cli } from '../../../command.ts'
import { readSecret } from '../../../input/read-source.ts'
import {
  addSecretOptions,
  parseHeader,
  parsePatterns,
  parseScheme,
  SCHEME_HELP,
  withHeader,
} from '../../../input/signing-options.ts'
import { atSandbox, findSandbox, isRehearsal } from '../control/sandbox-control.ts'
import { withoutSecrets } from '../control/view.ts'

/** `upshot sandbox webhook add <url>`: registers a webhook and prints a generated secret, once. */
export function define(command: Command, { out, project }: Cli): void {
  addSecretOptions(
    atSandbox(command)
      .argument('<address>', 'URL that receives the deliveries, such as http://127.0.0.1:4700/hooks/shop-…')
      .addOption(
        new Option('--events <patterns>', 'event types and families to send, such as file.*,transfer.completed')
          .argParser(parsePatterns)
          .default<string[]>(['*'], '*'),
      )
      .addOption(new Option('--storage <storages...>', 'only events of these storages').choices(STORAGES))
      .addOption(new Option('--scheme <scheme>', SCHEME_HELP).argParser(parseScheme))
      .option('--header <name>', 'name of the signature header (default: that of the scheme)', parseHeader),
  ).action(async (address, { events, storage, scheme, header, url, dir, ...source }) => {
    const secret = await readSecret(source)
    const sandbox = await findSandbox(project, { url, dir })
    if (isRehearsal(out, `register ${address} for ${events.join(', ')}`)) return
    const { SCHEME_PRESETS } = await import('../../../../core/incoming/signature.ts')
    const webhook = await sandbox.post<Webhook>('/webhooks', {
      ...{ url: address, events, storages: storage ?? null },
      scheme: withHeader(scheme ?? SCHEME_PRESETS.hex, header),
      ...(secret === undefined ? {} : { secret }),
    })
    const made = secret === undefined ? (webhook.secrets[0] ?? null) : null
    out.result({ ...withoutSecrets(webhook), secret: made }, () => [
      `${webhook.id}  ${webhook.url}`,
      ...(made === null ? [] : [`secret  ${made}`]),
    ])
    out.note(`Check it with "upshot sandbox probe ${webhook.id}".`)
  })
}
