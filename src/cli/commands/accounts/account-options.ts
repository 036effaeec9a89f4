import type { Command, OptionValues } from '@commander-js/extra-typings'
import { Option } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import type { Plan } from '../../../core/service/account.ts'
import { STORAGES, type StorageName } from '../../../core/service/storage.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { readSecret } from '../../input/read-source.ts'

/** Adds the options of `add` and `edit`. Keys are never arguments: process lists show those. */
export function addAccountOptions<Args extends unknown[], Options extends OptionValues>(
  command: Command<Args, Options>,
) {
  return command
    .option('--base-url <url>', 'the base URL with its version, such as https://api.example.com/v1', parseBaseUrl)
    .addOption(new Option('--key-file <file>', 'read the API key from a file').conflicts(['keyStdin', 'keyEnv']))
    .addOption(new Option('--key-stdin', 'read the API key from standard input').conflicts('keyEnv'))
    .option('--key-env <name>', 'read the API key from an environment variable')
    .addOption(
      new Option(
        '--fallback-file <file>',
        'read the fallback key, used when the first is refused, from a file',
      ).conflicts('fallbackEnv'),
    )
    .option('--fallback-env <name>', 'read the fallback key from an environment variable')
    .option('--plan <plan>', 'free, pro, enterprise, or the allowed requests per minute (1 to 999999)', parsePlan)
    .option('--storage-a <name>', 'the name of the document-suite storage in API calls')
    .option('--storage-b <name>', 'the name of the desktop-suite storage in API calls')
    .option('--storage-c <name>', 'the name of the file-sync storage in API calls')
}

/** The values of {@link addAccountOptions}; undefined for an option that was not given. */
export interface AccountOptions {
  baseUrl?: string | undefined
  keyFile?: string | undefined
  keyStdin?: true | undefined
  keyEnv?: string | undefined
  fallbackFile?: string | undefined
  fallbackEnv?: string | undefined
  plan?: Plan | undefined
  storageA?: string | undefined
  storageB?: string | undefined
  storageC?: string | undefined
}

/** Reads the keys from their sources. */
export async function readKeys({ keyFile, keyStdin, keyEnv, fallbackFile, fallbackEnv }: AccountOptions) {
  return {
    apiKey: await readSecret({ secretFile: keyFile, secretStdin: keyStdin, secretEnv: keyEnv }, 'the API key'),
    fallbackKey: await readSecret({ secretFile: fallbackFile, secretEnv: fallbackEnv }, 'the fallback key'),
  }
}

/** The service's names of the storages: from the options, else from `known`. */
export function nameStorages(
  { storageA, storageB, storageC }: AccountOptions,
  known: Record<StorageName, string> | null,
): Record<StorageName, string | undefined> {
  const named = { storage_a: storageA, storage_b: storageB, storage_c: storageC }
  return {
    storage_a: named.storage_a ?? known?.storage_a,
    storage_b: named.storage_b ?? known?.storage_b,
    storage_c: named.storage_c ?? known?.storage_c,
  }
}

/** All accounts of one service share its storage names; the sandbox uses ours. */
export function knownStorages(
  { service }: Pick<Config, 'service'>,
  apiKey: string,
): Record<StorageName, string> | null {
  if (service.kind === 'real') return service.storages
  const [storage_a, storage_b, storage_c] = STORAGES
  return apiKey.startsWith('sk_sandbox_') ? { storage_a, storage_b, storage_c } : null
}

function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    `${url.username}${url.password}${url.search}${url.hash}` === ''
  ) {
    return text
  }
  throw new InvalidArgumentError('Give a URL with its version, such as https://api.example.com/v1.')
}

function parsePlan(text: string): Plan {
  if (text === 'free' || text === 'pro' || text === 'enterprise') return text
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give free, pro, enterprise, or a number of requests per minute from 1 to 999999.')
}
