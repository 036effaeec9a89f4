import type { Command } from '@commander-js/extra-typings'
import type { EffectRecord } from '../../../../core/safety/effect.ts'
import { type Suggestion, suggestLimits } from '../../../../core/safety/suggest-limits.ts'
import type { SearchPart } from '../../../../core/store/search.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import type { Cli } from '../../../command.ts'
import { parseSince } from '../../../input/parse-option.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'

const PAGE = 5_000
const TWO_WEEKS_MS = 14 * 86_400_000

/** `upshot guard suggest`: twice the 99th percentile of what each workflow deleted. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .option('--since <when>', 'look at effects since then, such as 14d (default: 14d)', parseSince)
    .action(({ since }) =>
      project.withStore(async (store) => {
        const suggestions = suggestLimits(
          await readBegun(store, since?.(commandClock.now()) ?? commandClock.now() - TWO_WEEKS_MS),
        )
        out.result(suggestions, () => formatTable(suggestions, COLUMNS, out))
        if (suggestions.length === 0) out.note('No workflow deleted anything since then.')
        else out.note('Write them into the `guard` of the workflow: guard: { deletes: { perRun, perHour, perDay } }')
      }),
    )
}

/** Only the parts that count are kept, so that memory stays small. */
async function readBegun(store: ReadStore, since: number) {
  const begun: Pick<EffectRecord, 'at' | 'workflow' | 'runId'>[] = []
  const filter = { since, phases: ['begun'], class: 'delete' } as const
  let after: string | null = null
  do {
    const part: SearchPart<EffectRecord> = await store.searchEffects(filter, { rows: PAGE, limit: PAGE, after })
    for (const { at, workflow, runId } of part.items) begun.push({ at, workflow, runId })
    after = part.next
  } while (after !== null)
  return begun
}

const COLUMNS: Column<Suggestion>[] = [
  { title: 'WORKFLOW', value: ({ workflow }) => workflow },
  { title: 'DELETED', value: ({ deletes }) => deletes, align: 'right' },
  { title: 'PER RUN', value: ({ perRun }) => perRun, align: 'right' },
  { title: 'PER HOUR', value: ({ perHour }) => perHour, align: 'right' },
  { title: 'PER DAY', value: ({ perDay }) => perDay, align: 'right' },
]
