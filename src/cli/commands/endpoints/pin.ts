import { type Command, Option } from '@commander-js/extra-typings'
import { planPin } from '../../../core/incoming/endpoint.ts'
import type { Cli } from '../../command.ts'
import { parseHeader, parseScheme, SCHEME_HELP, withHeader } from '../../input/signing-options.ts'
import { changeEndpoint } from './change-endpoint.ts'

/** `upshot endpoints pin <name> --scheme`: sets the scheme and accepts deliveries from now on. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<name>', 'name of the endpoint')
    .addOption(new Option('--scheme <scheme>', SCHEME_HELP).argParser(parseScheme).makeOptionMandatory())
    .option('--header <name>', 'name of the signature header (default: that of the scheme)', parseHeader)
    .action((name, { scheme, header }) =>
      project.withStore(async (store, config) => {
        const { view } = await changeEndpoint(
          out,
          { store, config },
          { name, plan: (endpoint) => planPin(endpoint, withHeader(scheme, header)) },
        )
        out.result(view, () => [
          `Endpoint "${name}" accepts deliveries that are signed like this:`,
          '',
          `  Header     ${view.header}`,
          `  Algorithm  ${view.algorithm}`,
        ])
      }),
    )
}
