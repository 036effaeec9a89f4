import { type Command, Option } from '@commander-js/extra-typings'
import { planPin } from '../../../core/incoming/endpoint.ts'
import { parseHeader, parseScheme, SCHEME_HELP, withHeader } from '../../input/signing-options.ts'
import { withStore } from '../../open/open-project.ts'
import type { Output } from '../../terminal/output.ts'
import { changeEndpoint } from './change-endpoint.ts'

/**
 * `upshot endpoints pin <name> --scheme`: settles how deliveries are signed and takes them from the
 * next one on.
 */
export function define(command: Command, out: Output): void {
  command
    .argument('<name>', 'the endpoint')
    .addOption(new Option('--scheme <scheme>', SCHEME_HELP).argParser(parseScheme).makeOptionMandatory())
    .option('--header <name>', 'header that carries the signature (default: the one of the scheme)', parseHeader)
    .action((name, { scheme, header }) =>
      withStore(async (store, config) => {
        const { view } = await changeEndpoint(
          out,
          { store, config },
          { name, plan: (endpoint) => planPin(endpoint, withHeader(scheme, header)) },
        )
        out.result(view, () => [
          `Endpoint "${name}" takes deliveries that are signed so:`,
          '',
          `  Header     ${view.header}`,
          `  Algorithm  ${view.algorithm}`,
        ])
      }),
    )
}
