import { type Command, Option } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { readSecret } from '../../input/read-source.ts'
import { loadProject } from '../../open/open-project.ts'
import { requireDatabase } from '../../open/require-database.ts'
import { findRunningApp } from '../../open/running-app.ts'
import { confirm } from '../../terminal/confirm.ts'
import type { Output } from '../../terminal/output.ts'

/** `upshot db reseal`: after the old key was seen by somebody, or somebody who knew it has left. */
export function define(command: Command, out: Output): void {
  command
    .addOption(new Option('--key-file <file>', 'read the new key from a file').conflicts(['keyStdin', 'keyEnv']))
    .addOption(new Option('--key-stdin', 'read the new key from standard input').conflicts('keyEnv'))
    .option('--key-env <name>', 'read the new key from an environment variable')
    .addHelpText(
      'after',
      '\nA key is 32 bytes in base64 or hex. Without one, a key that lies in the data directory is replaced by a new one.\nStop every process of the app first. Webhook secrets and API keys stay what they are.',
    )
    .action(async ({ keyFile, keyStdin, keyEnv }) => {
      const config = await loadProject()
      const file = requireDatabase(config)
      const key = await readSecret({ secretFile: keyFile, secretStdin: keyStdin, secretEnv: keyEnv }, 'the new key')
      await requireStopped(config)
      if (!(await confirm(out, { will: `seal the secrets in ${file} under another key` }))) {
        out.result({ resealed: null }, () => ['Nothing was changed.'])
        return
      }
      const { resealSecrets } = await import('../../../project/data-dir/reseal-secrets.ts')
      const { keyFiles, ...resealed } = resealSecrets(config, key ?? null)
      const { webhookSecrets, apiKeys, captures } = resealed
      out.result({ resealed, keyFiles }, () => [
        `Sealed anew: ${webhookSecrets} webhook secrets, ${apiKeys} API keys, ${captures} captured deliveries.`,
      ])
      out.note(
        keyFiles === null
          ? 'Start the app with the new key in UPSHOT_SECRET_KEY. Backups made before need the old one.'
          : `The new key is in ${keyFiles.present}. Backups made before need the old one, in ${keyFiles.before}.`,
      )
    })
}

/** An app that runs would go on with the old key, and refuse whatever it reads from then on. */
async function requireStopped(config: Config): Promise<void> {
  const app = await findRunningApp(config)
  if (app === null) return
  throw new UpshotError(
    'conflict',
    `An app runs on ${config.dataDir} (process ${app.pid}), and knows the old key only.`,
    {
      details: { fix: 'Stop every process of it, seal, and start it again.' },
    },
  )
}
