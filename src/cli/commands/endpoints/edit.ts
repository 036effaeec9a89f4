import { type Command, Option } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import { type Endpoint, planScheme } from '../../../core/incoming/endpoint.ts'
import type { SignatureScheme } from '../../../core/incoming/signature.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { parseHeader, parsePatterns, parseScheme, SCHEME_HELP, withHeader } from '../../input/signing-options.ts'
import { findKeeper } from '../../open/find-endpoint.ts'
import { withStore } from '../../open/open-project.ts'
import { tellSandbox } from '../../open/tell-sandbox.ts'
import type { Output } from '../../terminal/output.ts'
import { findAccount } from '../accounts/find-account.ts'
import { changeEndpoint } from './change-endpoint.ts'

interface Change {
  events?: string[] | undefined
  account?: string | undefined
  scheme?: SignatureScheme | undefined
  header?: string | undefined
  learn?: true | undefined
}

/**
 * `upshot endpoints edit <name>`: changes what is named, keeps the rest; holds from the next
 * delivery on.
 */
export function define(command: Command, out: Output): void {
  command
    .argument('<name>', 'the endpoint')
    .option('--events <patterns>', 'event types to act on, such as file.*,transfer.completed', parsePatterns)
    .option('--account <name>', 'whose events these are')
    .option('--scheme <scheme>', SCHEME_HELP, parseScheme)
    .option('--header <name>', 'header that carries the signature', parseHeader)
    .addOption(
      new Option('--learn', 'take no delivery, but capture them until "endpoints solve" knows the scheme').conflicts([
        'scheme',
        'header',
      ]),
    )
    .action((name, change) =>
      withStore(async (store, config) => {
        if (Object.keys(change).length === 0) {
          throw new UpshotError('invalid_request', 'No change is named.', {
            details: { fix: 'Add --events, --account, --scheme, --header or --learn.' },
          })
        }
        if (change.account !== undefined) await findAccount(store, change.account)
        const { before, after, view } = await changeEndpoint(
          out,
          { store, config },
          { name, plan: (endpoint) => planEdit(endpoint, change, config) },
        )
        out.result(view, () => [
          `Endpoint "${name}" is changed:`,
          '',
          `  Events     ${view.events.join(', ')}`,
          `  Account    ${view.account}`,
          `  Header     ${view.header}`,
          `  Algorithm  ${view.algorithm}`,
        ])
        const isSigning = change.scheme !== undefined || change.header !== undefined
        if (!isSigning || out.given.dryRun) return
        const isTold = findKeeper(after, config) === 'sandbox' && (await tellSandbox(config, after))
        if (isTold) out.note('The sandbox signs so from now on.')
        else if (before.scheme !== after.scheme)
          out.note('See that the service signs so, too: upshot endpoints test only asks this side.')
      }),
    )
}

function planEdit(endpoint: Endpoint, { events, account, scheme, header, learn }: Change, config: Config): Endpoint {
  const { service } = config
  const isForeign =
    findKeeper(endpoint, config) === 'environment' && service.kind === 'real' && service.signatureHeader !== null
  if (isForeign && header !== undefined) {
    throw new UpshotError(
      'conflict',
      `The header of endpoint "${endpoint.name}" comes from SERVICE_SIGNATURE_HEADER.`,
      {
        details: { fix: 'Change SERVICE_SIGNATURE_HEADER and start the app again.' },
      },
    )
  }
  const status = learn ? 'learning' : endpoint.status
  const edited = { ...endpoint, status, events: events ?? endpoint.events, account: account ?? endpoint.account }
  if (scheme === undefined && header === undefined) return edited
  return planScheme(edited, withHeader(scheme ?? endpoint.scheme, isForeign ? endpoint.scheme.header : header))
}
