import type { AnswerOf } from '../../../../admin/contract/routes.ts'
import { describeEnd } from '../../../../app/play/describe-play.ts'
import type { Ahead } from '../../../../app/play/look-ahead.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { call, type Operations } from '../../../open/operations.ts'
import { formatBytes, formatFailure, formatText } from '../../../terminal/format-value.ts'
import type { Output } from '../../../terminal/output.ts'
import { type Column, formatSection, formatTable, indented, type Layout } from '../../../terminal/table.ts'
import { openCode } from '../open-code.ts'
import { openLiveReads } from '../open-live-reads.ts'

/** Runs of an approval that are played on; those after them are counted. */
const MAX_RUNS = 20
/** Effects of a run that are shown to a person. */
const SHOWN = 50
const EVERY_ITEM = 1_000_000

/** The rest of a run, as far as it is told here or by a server. */
type ShownAhead = Pick<Ahead, 'run' | 'end'> & {
  effects: (Pick<Ahead['effects'][number], 'class' | 'step' | 'target'> & {
    asked: { path: string | null; bytes: number | null } | null
    source?: Ahead['effects'][number]['source']
  })[]
}

/**
 * Plays the runs of an open approval on from where they stand. Real reads, and no effect. `total`:
 * the runs that wait for it.
 */
export async function foresee(
  out: Output,
  operations: Operations,
  approval: AnswerOf<'GET /approvals/:id'>,
): Promise<{ ahead: ShownAhead[]; total: number }> {
  if (operations.local === null) return askToForesee(operations, approval.id)
  const { store, config } = operations.local
  const items = await store.listApprovalItems({ approval: approval.id, limit: EVERY_ITEM })
  const open = items.filter(({ state }) => state === 'open')
  const all = [...new Set(open.map(({ runId }) => runId))]
  const runs = all.slice(0, MAX_RUNS)
  if (all.length > runs.length) out.note(`The first ${runs.length} of ${all.length} runs are played on.`)
  if (runs.length === 0) return { ahead: [], total: 0 }
  const { lookAhead } = await import('../../../../app/play/look-ahead.ts')
  await using world = await openLiveReads(config)
  await using room = await openCode(out, { store, config, readFiles: world.readFiles })
  const ahead = await lookAhead(store, room, { runs, items: open, now: commandClock.now() })
  return { ahead, total: all.length }
}

/** The same of a server, which plays them. */
async function askToForesee(operations: Operations, id: string): Promise<{ ahead: ShownAhead[]; total: number }> {
  const { runs, ahead } = await call(operations, 'POST /approvals/:id/look-ahead', { params: { id }, body: {} })
  const shown = ahead.map(({ run, list, end }) => ({
    ...{ run, end: { ...end, error: { name: 'Error', message: end.reason ?? '' } } as Ahead['end'] },
    effects: list.map(({ path, bytes, ...effect }) => ({ ...effect, asked: { path, bytes } })),
  }))
  return { ahead: shown, total: runs }
}

/** For JSON. */
export function describeAhead({ run, effects, end }: ShownAhead) {
  const list = effects.map(({ class: kind, step, target, asked, source }) => ({
    class: kind,
    step,
    target,
    asked,
    source,
  }))
  return { run, effects: list, end }
}

/** The rest of each run, as far as it is known. */
export function formatAhead(ahead: readonly ShownAhead[], layout: Layout): string[] {
  return ahead.flatMap(({ run, effects, end }) => {
    const bytes = effects.reduce((sum, { asked }) => sum + (asked?.bytes ?? 0), 0)
    const rest = effects.length - SHOWN
    const title = `After it, ${run} would ask for ${effects.length} more (${formatBytes(bytes)})`
    return [
      ...(effects.length === 0
        ? ['', `After it, ${run} would ask for nothing more.`]
        : formatSection(title, formatTable(effects.slice(0, SHOWN), EFFECTS, indented(layout)), layout.paint)),
      ...(rest > 0 ? [`  … and ${rest} more: add --json`] : []),
      `  ${formatKnown(end)}`,
    ]
  })
}

type Effect = ShownAhead['effects'][number]

const EFFECTS: Column<Effect>[] = [
  { title: 'WHAT', value: ({ class: kind }) => kind.toUpperCase() },
  { title: 'PATH', value: ({ asked, target, step }) => asked?.path ?? target ?? step, most: 80 },
  { title: 'SIZE', value: ({ asked }) => formatBytes(asked?.bytes ?? null), align: 'right' },
]

function formatKnown(end: ShownAhead['end']): string {
  const { would, why } = describeEnd(end)
  const text = end.kind === 'failed' ? formatFailure(end.error) : why && formatText(why, 200)
  return `Then it would ${would}${text ? `: ${text}` : '.'}`
}
