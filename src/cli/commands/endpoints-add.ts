import { type Command, Option } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import { planEndpoint } from '../../core/endpoint.ts'
import { SCHEME_PRESETS, type SchemePreset, type SignatureScheme } from '../../core/signature.ts'
import { systemClock } from '../../core/time.ts'
import { describeEndpoint, type EndpointView } from '../endpoint-view.ts'
import type { Output } from '../output.ts'
import { withStore } from '../project.ts'
import { readSecret } from '../read-source.ts'
import { findReceiver } from '../running-app.ts'

const PRESETS = Object.keys(SCHEME_PRESETS) as SchemePreset[]

/** `upshot endpoints add <name>`: the one place where a generated secret is shown. */
export function define(command: Command, out: Output): void {
  command
    .argument('<name>', 'a-z, 0-9 and "-"')
    .addOption(
      new Option('--events <patterns>', 'event types to act on, such as file.*,transfer.completed')
        .argParser(parsePatterns)
        .default<string[]>(['*'], '*'),
    )
    .option('--account <name>', 'whose events these are', 'default')
    .addOption(new Option('--scheme <scheme>', 'how deliveries are signed').choices(PRESETS).default('hex' as const))
    .option('--header <name>', 'header that carries the signature (default: the one of the scheme)', parseHeader)
    .addOption(
      new Option('--secret-file <file>', 'read the secret from a file').conflicts(['secretStdin', 'secretEnv']),
    )
    .addOption(new Option('--secret-stdin', 'read the secret from standard input').conflicts('secretEnv'))
    .option('--secret-env <name>', 'read the secret from an environment variable')
    .addHelpText('after', '\nWithout one of the --secret options a strong secret is made and printed, once.')
    .action(async (name, { events, account, scheme, header, ...source }) => {
      const given = await readSecret(source)
      await withStore(async (store, config) => {
        const endpoint = planEndpoint(
          {
            ...{ name, account, events, scheme: withHeader(SCHEME_PRESETS[scheme], header) },
            ...(given === undefined ? {} : { secret: given }),
          },
          systemClock.now(),
        )
        await store.addEndpoint(endpoint)
        const view = describeEndpoint(endpoint, await findReceiver(config))
        const secret = given === undefined ? (endpoint.secrets[0]?.value ?? null) : null
        out.result({ ...view, secret }, () => describePaste(view, secret))
        out.note(adviseReach(view))
      })
    })
}

function withHeader(scheme: SignatureScheme, header: string | undefined): SignatureScheme {
  return header === undefined ? scheme : { ...scheme, header }
}

function describePaste(view: EndpointView, secret: string | null): string[] {
  return [
    `Endpoint "${view.name}" is made. Paste this into the webhook settings of the service:`,
    '',
    `  URL        ${view.url ?? '(known once the app runs: upshot endpoints list)'}`,
    `  Secret     ${secret ?? '(the one you gave)'}`,
    `  Header     ${view.header}`,
    `  Algorithm  ${view.algorithm}`,
    `  Events     ${view.events.join(', ')}`,
    '',
    ...(secret === null ? [] : ['The secret is shown this once; keep it where you keep passwords.']),
  ]
}

function adviseReach({ name, url }: EndpointView): string {
  const test = `Try it with "upshot trigger file.created --endpoint ${name}".`
  const isLocal = url !== null && /^http:\/\/(127\.|localhost|0\.0\.0\.0|\[::1?\])/.test(url)
  return isLocal ? `${test} For the service, put your public https address in place of ${new URL(url).origin}.` : test
}

function parsePatterns(text: string): string[] {
  const patterns = text.split(',').map((pattern) => pattern.trim())
  if (patterns.every((pattern) => /^(\*|[\w-]+(\.[\w-]+)*(\.\*)?)$/.test(pattern))) return patterns
  throw new InvalidArgumentError('Write event types or families, such as "transfer.completed,file.*", or "*".')
}

function parseHeader(text: string): string {
  if (/^[\w-]+$/.test(text)) return text
  throw new InvalidArgumentError('It is the name of an HTTP header, such as X-Service-Signature.')
}
