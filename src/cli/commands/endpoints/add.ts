import { type Command, Option } from '@commander-js/extra-typings'
import { type Endpoint, newSecret, planEndpoint } from '../../../core/incoming/endpoint.ts'
import { SCHEME_PRESETS } from '../../../core/incoming/signature.ts'
import { DEFAULT_ACCOUNT } from '../../../core/service/account.ts'
import { systemClock } from '../../../core/time.ts'
import { readSecret } from '../../input/read-source.ts'
import {
  addSecretOptions,
  parseHeader,
  parsePatterns,
  parseScheme,
  SCHEME_HELP,
  withHeader,
} from '../../input/signing-options.ts'
import { withStore } from '../../open/open-project.ts'
import { findAddress } from '../../open/running-app.ts'
import type { Output } from '../../terminal/output.ts'
import { findAccount } from '../accounts/find-account.ts'
import { adviseReach, describeEndpoint, type EndpointView } from './endpoint-view.ts'

/** `upshot endpoints add <name>`: the one place where a generated secret is shown. */
export function define(command: Command, out: Output): void {
  addSecretOptions(
    command
      .argument('<name>', 'a-z, 0-9 and "-"')
      .addOption(
        new Option('--events <patterns>', 'event types to act on, such as file.*,transfer.completed')
          .argParser(parsePatterns)
          .default<string[]>(['*'], '*'),
      )
      .option('--account <name>', 'whose events these are', DEFAULT_ACCOUNT)
      .addOption(
        new Option(
          '--learn',
          'where nobody knows how deliveries are signed: capture them for "endpoints solve"',
        ).conflicts(['scheme', 'header']),
      )
      .addOption(new Option('--scheme <scheme>', SCHEME_HELP).argParser(parseScheme).default(SCHEME_PRESETS.hex, 'hex'))
      .option('--header <name>', 'header that carries the signature (default: the one of the scheme)', parseHeader),
  )
    .addHelpText('after', '\nWithout one of the --secret options a strong secret is made and printed, once.')
    .action(async (name, { events, account, learn = false, scheme: shape, header, ...source }) => {
      await withStore(async (store, config) => {
        const given = await readSecret(source)
        const scheme = withHeader(shape, header)
        const secret = given ?? newSecret(scheme)
        await findAccount(store, account)
        const planned = planEndpoint({ name, account, events, scheme, secret }, systemClock.now())
        const endpoint: Endpoint = learn ? { ...planned, status: 'learning' } : planned
        if (out.given.dryRun) out.note('Nothing was written: this is what it would be.')
        else await store.addEndpoint(endpoint)
        const view = describeEndpoint(endpoint, await findAddress(config))
        const shown = given === undefined && !out.given.dryRun ? secret : null
        out.result({ ...view, secret: shown }, () => describePaste(endpoint, view, shown))
        out.note(
          learn
            ? `It answers 503 and keeps what comes, until its scheme is known: upshot endpoints solve ${name}`
            : `Try it with "upshot endpoints test ${name}".`,
        )
        const advice = adviseReach(view)
        if (advice !== null) out.note(advice)
      })
    })
}

function describePaste({ name, status }: Endpoint, view: EndpointView, secret: string | null): string[] {
  return [
    `Endpoint "${name}" is made. Paste this into the webhook settings of the service:`,
    '',
    `  URL        ${view.url ?? '(known once the app runs: upshot endpoints list)'}`,
    `  Secret     ${secret ?? '(the one you gave)'}`,
    ...(status === 'learning' ? [] : [`  Header     ${view.header}`, `  Algorithm  ${view.algorithm}`]),
    `  Events     ${view.events.join(', ')}`,
    '',
    ...(secret === null ? [] : ['The secret is shown this once; keep it where you keep passwords.']),
  ]
}
