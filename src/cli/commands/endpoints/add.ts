import { type Command, Option } from '@commander-js/extra-typings'
import { requireAccount } from '../../../admin/queries/require-row.ts'
import { type Endpoint, newSecret, planEndpoint } from '../../../core/incoming/endpoint.ts'
import { SCHEME_PRESETS } from '../../../core/incoming/signature.ts'
import { DEFAULT_ACCOUNT } from '../../../core/service/account.ts'
import type { Cli } from '../../command.ts'
import { readSecret } from '../../input/read-source.ts'
import {
  addSecretOptions,
  parseHeader,
  parsePatterns,
  parseScheme,
  SCHEME_HELP,
  withHeader,
} from '../../input/signing-options.ts'
import { commandClock } from '../../open/command-clock.ts'
import { findAddress } from '../../open/running-app.ts'
import { adviseReach, describeEndpoint, type EndpointView } from './endpoint-view.ts'

/** `upshot endpoints add <name>`: creates an endpoint and prints a generated secret, once. */
export function define(command: Command, { out, project }: Cli): void {
  addSecretOptions(
    command
      .argument('<name>', 'name of the new endpoint: a-z, 0-9 and "-"')
      .addOption(
        new Option(
          '--events <patterns>',
          'event types and families that start workflows, such as file.*,transfer.completed',
        )
          .argParser(parsePatterns)
          .default<string[]>(['*'], '*'),
      )
      .option('--account <name>', 'account of the service that its events belong to', DEFAULT_ACCOUNT)
      .addOption(
        new Option(
          '--learn',
          'refuse deliveries with 503 and capture them, until "endpoints solve" finds the scheme',
        ).conflicts(['scheme', 'header']),
      )
      .addOption(new Option('--scheme <scheme>', SCHEME_HELP).argParser(parseScheme).default(SCHEME_PRESETS.hex, 'hex'))
      .option('--header <name>', 'name of the signature header (default: that of the scheme)', parseHeader),
  )
    .addHelpText('after', '\nWithout a --secret option, a strong secret is generated and printed once.')
    .action(async (name, { events, account, learn = false, scheme: shape, header, ...source }) => {
      await project.withStore(
        async (store, config) => {
          const given = await readSecret(source)
          const scheme = withHeader(shape, header)
          const secret = given ?? newSecret(scheme)
          await requireAccount(store, account)
          const planned = planEndpoint({ name, account, events, scheme, secret }, commandClock.now())
          const endpoint: Endpoint = learn ? { ...planned, status: 'learning' } : planned
          if (out.given.dryRun) out.note('Dry run: nothing was saved. This is what would be saved.')
          else await store.addEndpoint(endpoint)
          const view = describeEndpoint(endpoint, await findAddress(config))
          const shown = given === undefined && !out.given.dryRun ? secret : null
          out.result({ ...view, secret: shown }, () => describePaste(endpoint, view, shown))
          out.note(
            learn
              ? `It answers 503 and captures deliveries until its scheme is known: upshot endpoints solve ${name}`
              : `Try it with "upshot endpoints test ${name}".`,
          )
          const advice = adviseReach(view)
          if (advice !== null) out.note(advice)
        },
        { mayCreate: !out.given.dryRun },
      )
    })
}

function describePaste({ name, status }: Endpoint, view: EndpointView, secret: string | null): string[] {
  return [
    `Created the endpoint "${name}". Enter these values in the webhook settings of the service:`,
    '',
    `  URL        ${view.url ?? '(known while the app is running: upshot endpoints list)'}`,
    `  Secret     ${secret ?? '(the one you gave)'}`,
    ...(status === 'learning' ? [] : [`  Header     ${view.header}`, `  Algorithm  ${view.algorithm}`]),
    `  Events     ${view.events.join(', ')}`,
    '',
    ...(secret === null ? [] : ['The secret is not shown again. Store it like a password.']),
  ]
}
