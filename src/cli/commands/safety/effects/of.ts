import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import type { EffectRecord } from '../../../../core/safety/effect.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { describeFile } from './effect-filter.ts'
import { describeEffect } from './effect-view.ts'
import { tellEffect } from './tell-effect.ts'

/** Rows that are read for one file. */
const MAX_ROWS = 1_000

/** `upshot effects of <file>`: who did what to it, when, by which run and whose word. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<file>', 'a path such as /out/a.mov, or a target such as storage_a:fil_1').action((file) =>
    project.withStore(async (store) => {
      const rows = await findEffects(store, file)
      if (rows.length === 0) {
        throw new UpshotError('not_found', `The ledger has no effect on ${file}.`, {
          details: { fix: 'A delete is found by the path that its run saw, and by its target: storage_a:<id>.' },
        })
      }
      const now = commandClock.now()
      const stories = await Promise.all(rows.map((row) => tellEffect(store, row, now)))
      out.result(rows.map(describeEffect), () => stories.flat())
    }),
  )
}

/** Rows of a target; of a path, all rows of the targets that had it. Oldest first. */
async function findEffects(store: ReadStore, file: string): Promise<EffectRecord[]> {
  const byTarget = await store.listEffects({ target: file, limit: MAX_ROWS })
  const { path } = describeFile(file)
  const byPath = path === undefined ? [] : await store.listEffects({ path, limit: MAX_ROWS })
  const rows = new Map([...byTarget, ...byPath].map((row) => [row.seq, row]))
  for (const target of new Set(byPath.map((row) => row.target))) {
    if (target === null) continue
    for (const row of await store.listEffects({ target, limit: MAX_ROWS })) rows.set(row.seq, row)
  }
  return [...rows.values()].sort((one, other) => one.seq - other.seq)
}
