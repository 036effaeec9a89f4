import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import type { Cli } from '../../../command.ts'
import { countUpTo } from '../../../input/parse-option.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { describeEffect } from './effect-view.ts'
import { tellEffect } from './tell-effect.ts'

/** The highest number that a row can be asked for by. */
const MOST = 999_999_999

/** `upshot effects show <n>`: everything that one row of the ledger says. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<number>', 'number of the row, as "effects list" prints it', countUpTo(MOST)).action((seq) =>
    project.withStore(async (store) => {
      const [row] = await store.listEffects({ after: seq - 1, limit: 1 })
      if (row?.seq !== seq) {
        throw new UpshotError('not_found', `The ledger has no row ${seq}.`, {
          details: { fix: 'List its rows with "upshot effects list"; retention may have removed it.' },
        })
      }
      const { head } = await store.readSealState()
      const isSealed = seq <= (head?.last ?? 0)
      const story = await tellEffect(store, row, commandClock.now())
      const seal = isSealed ? '  sealed' : '  not sealed yet'
      out.result({ ...describeEffect(row), isSealed }, () => [...story, seal])
    }),
  )
}
