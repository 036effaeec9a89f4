import { type Command, Option } from '@commander-js/extra-typings'
import { requireAccount } from '../../../admin/queries/require-row.ts'
import { UpshotError } from '../../../core/errors.ts'
import { type Endpoint, planScheme } from '../../../core/incoming/endpoint.ts'
import type { SignatureScheme } from '../../../core/incoming/signature.ts'
import type { Config } from '../../../project/config/load-config.ts'
import type { Cli } from '../../command.ts'
import { parseHeader, parsePatterns, parseScheme, SCHEME_HELP, withHeader } from '../../input/signing-options.ts'
import { findKeeper } from '../../open/find-keeper.ts'
import { tellSandbox } from '../../open/tell-sandbox.ts'
import { changeEndpoint } from './change-endpoint.ts'

interface Change {
  events?: string[] | undefined
  account?: string | undefined
  scheme?: SignatureScheme | undefined
  header?: string | undefined
  learn?: true | undefined
}

/**
 * `upshot endpoints edit <name>`: changes the given values and keeps the rest, from the next
 * delivery on.
 */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<name>', 'name of the endpoint')
    .option(
      '--events <patterns>',
      'event types and families that start workflows, such as file.*,transfer.completed',
      parsePatterns,
    )
    .option('--account <name>', 'account of the service that its events belong to')
    .option('--scheme <scheme>', SCHEME_HELP, parseScheme)
    .option('--header <name>', 'name of the signature header', parseHeader)
    .addOption(
      new Option(
        '--learn',
        'refuse deliveries with 503 and capture them, until "endpoints solve" finds the scheme',
      ).conflicts(['scheme', 'header']),
    )
    .action((name, change) =>
      project.withStore(async (store, config) => {
        if (Object.keys(change).length === 0) {
          throw new UpshotError('invalid_request', 'No change was given.', {
            details: { fix: 'Add --events, --account, --scheme, --header or --learn.' },
          })
        }
        if (change.account !== undefined) await requireAccount(store, change.account)
        const { before, after, view } = await changeEndpoint(
          out,
          { store, config },
          { name, plan: (endpoint) => planEdit(endpoint, change, config) },
        )
        out.result(view, () => [
          `Changed the endpoint "${name}":`,
          '',
          `  Events     ${view.events.join(', ')}`,
          `  Account    ${view.account}`,
          `  Header     ${view.header}`,
          `  Algorithm  ${view.algorithm}`,
        ])
        const isSigning = change.scheme !== undefined || change.header !== undefined
        if (!isSigning || out.given.dryRun) return
        const isSandboxTold = findKeeper(after, config) === 'sandbox' && (await tellSandbox(config, after))
        if (isSandboxTold) out.note('The sandbox uses this scheme from now on.')
        else if (before.scheme !== after.scheme)
          out.note(
            `Make sure that the service signs this way too: "upshot endpoints test ${name}" checks only this side.`,
          )
      }),
    )
}

function planEdit(endpoint: Endpoint, { events, account, scheme, header, learn }: Change, config: Config): Endpoint {
  const { service } = config
  const isSetByEnvironment =
    findKeeper(endpoint, config) === 'environment' && service.kind === 'real' && service.signatureHeader !== null
  if (isSetByEnvironment && header !== undefined) {
    throw new UpshotError(
      'conflict',
      `The header of endpoint "${endpoint.name}" comes from SERVICE_SIGNATURE_HEADER.`,
      {
        details: { fix: 'Change SERVICE_SIGNATURE_HEADER and restart the app.' },
      },
    )
  }
  const status = learn ? 'learning' : endpoint.status
  const edited = { ...endpoint, status, events: events ?? endpoint.events, account: account ?? endpoint.account }
  if (scheme === undefined && header === undefined) return edited
  return planScheme(edited, withHeader(scheme ?? endpoint.scheme, isSetByEnvironment ? endpoint.scheme.header : header))
}
