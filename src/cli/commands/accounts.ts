import { type Command, Option } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import { ACCOUNT_ROUTES } from '../../admin/contract/resources/service/accounts.ts'
import type { AnswerOf } from '../../admin/contract/routes.ts'
import { refuse } from '../../core/errors.ts'
import type { Plan } from '../../core/service/account.ts'
import { STORAGES } from '../../core/service/storage.ts'
import { readSecret } from '../input/read-source.ts'
import { actCommand } from '../operate/act-command.ts'
import { listCommand } from '../operate/list-command.ts'
import { askSecret } from '../terminal/confirm.ts'
import { formatFacts } from '../terminal/table.ts'

const NAME = ['name', 'name of the account'] as const

export const list = listCommand(ACCOUNT_ROUTES, 'GET /accounts', {
  columns: [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'BASE URL', value: ({ baseUrl }) => baseUrl },
    { title: 'PLAN', value: ({ plan }) => plan },
    { title: 'ENDPOINTS', value: ({ endpoints }) => (endpoints.length === 0 ? null : endpoints.join(',')), most: 60 },
    { title: 'FROM', value: ({ keeper }) => keeper ?? 'accounts add' },
  ],
  empty: 'There is no account.',
})

export const show = actCommand('GET /accounts/:name', {
  argument: NAME,
  done: (account, name, { out }) => [out.paint('bold', name), ...formatAccount(account)],
})

export const add = actCommand('PUT /accounts/:name', {
  argument: ['name', 'name of the new account: a-z, 0-9 and "-"'],
  help: `Defaults for base URL, plan and storage names are those of the account "default". Without one of
the --key options, the key is asked for at a terminal.`,
  options: addOptions,
  mayCreate: true,
  tries: true,
  async body(options, name, { out }) {
    const given = await readAccount(options)
    const apiKey = given.apiKey ?? (await askSecret(out, `API key of account "${name}"`))
    if (!apiKey) throw refuse('No API key was given.', 'Add --key-file, --key-stdin or --key-env.')
    return { ...given, apiKey, isNew: true }
  },
  done: (account, name) => [`Added the account "${name}".`, '', ...formatAccount(account)],
  note: (_, name) => `Create an endpoint for its events: upshot endpoints add <name> --account ${name}`,
})

export const edit = actCommand('PUT /accounts/:name', {
  argument: NAME,
  options: (command) =>
    addOptions(command)
      .option('--keep-old-key', 'with a new key: keep the old one as the fallback key')
      .option('--no-fallback', 'remove the fallback key'),
  tries: true,
  async body({ keepOldKey: keepsOldKey, fallback, ...options }) {
    if (Object.keys(options).length === 0 && fallback) {
      const fix = 'Add --base-url, --plan, a --key, --fallback or --storage option, or --no-fallback.'
      throw refuse('No change was given.', fix)
    }
    return { ...(fallback ? {} : { fallbackKey: null }), ...(await readAccount(options)), keepsOldKey, isNew: false }
  },
  done: (account, name) => [`Changed the account "${name}".`, '', ...formatAccount(account)],
})

export const remove = actCommand('DELETE /accounts/:name', {
  argument: NAME,
  look: 'GET /accounts/:name',
  will: (name) => `remove the account "${name}" and its keys`,
  asks: () => ['unfinished runs of its events can no longer call its API', 'its events and runs are kept'],
  done: (_, name) => `Removed the account "${name}".`,
})

/** Adds the options of `add` and `edit`. Keys are never arguments: process lists show those. */
function addOptions(command: Command) {
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

/** The values of the options, with keys from their sources; what is left out stays as it is. */
async function readAccount(options: ReturnType<ReturnType<typeof addOptions>['opts']>) {
  const { baseUrl, plan, keyFile, keyStdin, keyEnv, fallbackFile, fallbackEnv } = options
  const fallback = await readSecret({ secretFile: fallbackFile, secretEnv: fallbackEnv }, 'the fallback key')
  return {
    baseUrl,
    plan,
    apiKey: await readSecret({ secretFile: keyFile, secretStdin: keyStdin, secretEnv: keyEnv }, 'the API key'),
    ...(fallback === undefined ? {} : { fallbackKey: fallback }),
    storages: { storage_a: options.storageA, storage_b: options.storageB, storage_c: options.storageC },
  }
}

/** An account for a person, one fact per line. */
function formatAccount(account: AnswerOf<'GET /accounts/:name'>): string[] {
  const { baseUrl, plan, storages, hasFallbackKey, endpoints, keeper } = account
  return formatFacts([
    ['from', keeper ?? 'accounts add'],
    ['base URL', baseUrl ?? '(the sandbox, while the app is running)'],
    ['plan', typeof plan === 'number' ? `${plan} requests per minute` : plan],
    ['storages', STORAGES.map((name) => storages[name]).join(', ')],
    ['key', hasFallbackKey ? 'one, with a fallback key' : 'one'],
    ['endpoints', endpoints.length === 0 ? 'none' : endpoints.join(', ')],
  ])
}

function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  const isPlain = url !== null && `${url.username}${url.password}${url.search}${url.hash}` === ''
  if (isPlain && /^https?:$/.test(url.protocol)) return text
  throw new InvalidArgumentError('Give a URL with its version, such as https://api.example.com/v1.')
}

function parsePlan(text: string): Plan {
  if (text === 'free' || text === 'pro' || text === 'enterprise') return text
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give free, pro, enterprise, or a number of requests per minute from 1 to 999999.')
}
