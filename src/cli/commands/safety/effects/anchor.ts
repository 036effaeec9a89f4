import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import { formatAnchor } from '../../../../core/safety/ledger/anchor.ts'
import type { Cli } from '../../../command.ts'
import { takeAnchor } from '../../../open/take-anchor.ts'
import { withIsoTimes } from '../../../terminal/format-value.ts'

/** `upshot effects anchor`: seals the ledger, and prints the end of its chain. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .addHelpText('after', '\nIt is also appended to the file in UPSHOT_ANCHOR_FILE. A --dry-run seals nothing.')
    .action(() =>
      project.withStore(async (store, config) => {
        const anchor = await takeAnchor(store, config, { isDryRun: out.given.dryRun })
        if (anchor === null) {
          throw new UpshotError('not_found', 'The effect ledger has no row yet, so there is nothing to anchor.', {
            fix: 'Run it again once a workflow has deleted or written something.',
          })
        }
        out.result(withIsoTimes(anchor), () => [formatAnchor(anchor)])
      }),
    )
}
