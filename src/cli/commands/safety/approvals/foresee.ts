import type { AnswerOf } from '../../../../admin/contract/routes.ts'
import type { Foreseen } from '../../../../admin/ports/surroundings.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { call, type Operations } from '../../../open/operations.ts'
import { formatBytes, formatText } from '../../../terminal/format-value.ts'
import type { Output } from '../../../terminal/output.ts'
import { type Column, formatSection, formatTable, indented, type Layout } from '../../../terminal/table.ts'
import { openCode, openLiveReads } from '../open-code.ts'

/** Runs of an approval that are previewed; those after them are counted. */
const MAX_RUNS = 20
/** Effects of a run that are shown to a person. */
const SHOWN = 50
const EVERY_ITEM = 1_000_000

/**
 * Previews how the runs of an open approval go on from where they stand. Real reads, and no effect.
 */
export async function foresee(
  out: Output,
  operations: Operations,
  approval: AnswerOf<'GET /approvals/:id'>,
): Promise<Foreseen> {
  if (operations.local === null) {
    return call(operations, 'POST /approvals/:id/look-ahead', { params: { id: approval.id }, body: {} })
  }
  const { store, config } = operations.local
  const items = await store.listApprovalItems({ approval: approval.id, limit: EVERY_ITEM })
  const open = items.filter(({ state }) => state === 'open')
  const all = [...new Set(open.map(({ runId }) => runId))]
  const runs = all.slice(0, MAX_RUNS)
  if (all.length > runs.length) out.note(`The first ${runs.length} of ${all.length} runs are previewed.`)
  if (runs.length === 0) return { runs: 0, ahead: [] }
  const { lookAhead } = await import('../../../../app/preview/look-ahead.ts')
  await using world = await openLiveReads(config)
  await using isolated = await openCode(out, { store, config, readFiles: world.readFiles })
  const ahead = await lookAhead(store, isolated, { runs, items: open, now: commandClock.now() })
  return { runs: all.length, ahead }
}

/** The rest of each run, as far as it is known. */
export function formatAhead({ ahead }: Foreseen, layout: Layout): string[] {
  return ahead.flatMap(({ run, effects, bytes, list, end }) => {
    const rest = effects - Math.min(SHOWN, list.length)
    const title = `After it, ${run} would ask for ${effects} more (${formatBytes(bytes)})`
    return [
      ...(effects === 0
        ? ['', `After it, ${run} would ask for nothing more.`]
        : formatSection(title, formatTable(list.slice(0, SHOWN), EFFECTS, indented(layout)), layout.paint)),
      ...(rest > 0 ? [`  … and ${rest} more: add --json`] : []),
      `  ${formatKnown(end)}`,
    ]
  })
}

const EFFECTS: Column<Foreseen['ahead'][number]['list'][number]>[] = [
  { title: 'WHAT', value: ({ class: kind }) => kind.toUpperCase() },
  { title: 'PATH', value: ({ path, target, step }) => path ?? target ?? step, most: 80 },
  { title: 'SIZE', value: ({ bytes }) => formatBytes(bytes), align: 'right' },
]

const WOULD: Record<Foreseen['ahead'][number]['end']['kind'], string> = {
  ...{ completed: 'complete', continued: 'go on in another run', failed: 'fail', skipped: 'be skipped' },
  ...{ halted: 'wait for a person', open: 'be open' },
}

function formatKnown({ kind, step, reason }: Foreseen['ahead'][number]['end']): string {
  const at = step === null ? '' : ` at step "${step}"`
  return `Then it would ${WOULD[kind]}${at}${reason === null ? '.' : `: ${formatText(reason, 200)}`}`
}
