import { type Command, Option } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import type { Config } from '../../../project/config/load-config.ts'
import type { Cli } from '../../command.ts'
import { readSecret } from '../../input/read-source.ts'
import { requireDatabase } from '../../open/open-project.ts'
import { findRunningApp } from '../../open/running-app.ts'
import { confirm } from '../../terminal/confirm.ts'

/** `upshot db reseal`: encrypts the stored secrets with a new key, after the old one leaked. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .addOption(new Option('--key-file <file>', 'read the new key from a file').conflicts(['keyStdin', 'keyEnv']))
    .addOption(new Option('--key-stdin', 'read the new key from standard input').conflicts('keyEnv'))
    .option('--key-env <name>', 'read the new key from an environment variable')
    .addHelpText('after', HELP)
    .action(async ({ keyFile, keyStdin, keyEnv }) => {
      const config = await project.load()
      const file = await requireDatabase(config)
      const key = await readSecret({ secretFile: keyFile, secretStdin: keyStdin, secretEnv: keyEnv }, 'the new key')
      await requireStopped(config)
      if (!(await confirm(out, { will: `encrypt the secrets in ${file} with a new key` }))) {
        out.result({ resealed: null }, () => ['Nothing was changed.'])
        return
      }
      const { resealSecrets } = await import('../../../project/data-dir/reseal-secrets.ts')
      const { keyFiles, ...resealed } = await resealSecrets(config, key ?? null, project.operator)
      const { webhookSecrets, apiKeys, captures } = resealed
      out.result({ resealed, keyFiles }, () => [
        `Encrypted again: ${webhookSecrets} webhook secrets, ${apiKeys} API keys, ${captures} captured deliveries.`,
      ])
      out.note(
        keyFiles === null
          ? 'Start the app with the new key in UPSHOT_SECRET_KEY. Earlier backups need the old key.'
          : `The new key is in ${keyFiles.present}. Earlier backups need the old key, in ${keyFiles.before}.`,
      )
    })
}

const HELP = `
A key is 32 bytes in base64 or hex. Without a --key option, a new key replaces the one in the data
directory. Stop every process of the app first. Webhook secrets and API keys keep their values.`

/** A running app would keep the old key, and could not read the secrets any more. */
async function requireStopped(config: Config): Promise<void> {
  const app = await findRunningApp(config)
  if (app === null) return
  throw new UpshotError('conflict', `An app is running on ${config.dataDir} (process ${app.pid}), with the old key.`, {
    fix: 'Stop every process of the app, run this again, then start the app.',
  })
}
