import { type Command, Option } from '@commander-js/extra-typings'
import type { Cli } from '../../command.ts'
import { readSecret, type SecretSource } from '../../input/read-source.ts'
import { addSecretOptions } from '../../input/signing-options.ts'
import { type ActWords, act } from '../../operate/act-command.ts'
import { formatMoment } from '../../terminal/format-value.ts'
import { type Endpoint, isAccepted } from './endpoint-view.ts'

const NAME = ['name', 'name of the endpoint'] as const

type RotateOptions = SecretSource & { overlap: string; retire?: true }

const ROTATE: ActWords<'POST /endpoints/:name/rotate', never, RotateOptions> = {
  argument: NAME,
  tries: true,
  body: async ({ overlap, retire: _, ...source }: RotateOptions) => ({ overlap, secret: await readSecret(source) }),
  done({ endpoint, secret }) {
    const next =
      endpoint.keeper === 'sandbox' ? 'The sandbox signs with it' : 'Enter it in the webhook settings of the service'
    const ends = listEnds(endpoint)
    return [
      `Endpoint "${endpoint.name}" accepts a new secret from now on. ${next}:`,
      '',
      `  Secret  ${secret ?? '(the one you gave)'}`,
      '',
      ...(ends.length === 0 ? ['The old secret is no longer accepted.'] : ends),
      ...(secret === null ? [] : ['The new secret is not shown again. Store it like a password.']),
    ]
  },
  note: ({ endpoint }, name) =>
    listEnds(endpoint).length === 0 ? null : `See when the old secret was last used: upshot endpoints show ${name}`,
}

/** The secrets that are accepted for some time more. */
function listEnds({ secrets }: Endpoint): string[] {
  return secrets
    .filter((secret) => secret.until !== null && isAccepted(secret))
    .map(({ position, until }) => `Secret ${position} is accepted until ${formatMoment(until)}.`)
}

const RETIRE: ActWords<'POST /endpoints/:name/retire', 'GET /endpoints/:name', RotateOptions> = {
  argument: NAME,
  look: 'GET /endpoints/:name',
  tries: true,
  body: () => ({}),
  done(endpoint, name, { found }) {
    const retired = listRetired(endpoint, found)
    const secrets = `${retired.length === 1 ? 'secret' : 'the secrets'} ${retired.join(', ')}`
    return retired.length === 0
      ? `Endpoint "${name}" has no old secret to retire.`
      : `Deliveries signed with ${secrets} are refused from now on.`
  },
  note(endpoint, _, found) {
    const isUnused = endpoint.secrets.at(-1)?.lastUsedAt === null
    if (!isUnused || listRetired(endpoint, found).length === 0) return null
    return 'The newest secret has not been used yet. If the service does not sign with it, deliveries are refused.'
  },
}

function listRetired(after: Endpoint, before: Endpoint): number[] {
  const kept = new Set(listActive(after))
  return listActive(before).filter((position) => !kept.has(position))
}

function listActive({ secrets }: Endpoint): number[] {
  return secrets.filter(isAccepted).map(({ position }) => position)
}

export function define(command: Command, cli: Cli): void {
  addSecretOptions(
    command
      .argument('<name>', NAME[1])
      .addHelpText('after', '\nWithout a --secret option, a strong secret is generated and printed once.')
      .addOption(
        new Option('--overlap <time>', 'how long deliveries signed with the old secret are still accepted')
          .choices(['0', '1h', '24h', '7d'])
          .default('24h'),
      )
      .addOption(
        new Option('--retire', 'create no new secret, but end the old ones now').conflicts([
          'secretFile',
          'secretStdin',
          'secretEnv',
        ]),
      ),
    { what: 'new secret' },
  ).action((named, options) =>
    options.retire
      ? act(cli, 'POST /endpoints/:name/retire', RETIRE, { named, options })
      : act(cli, 'POST /endpoints/:name/rotate', ROTATE, { named, options }),
  )
}
