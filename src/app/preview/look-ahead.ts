import type { Foreseen } from '../../admin/ports/surroundings.ts'
import type { ApprovalItem } from '../../core/safety/approval.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { type PreviewedEffect, type PreviewedEnd, whyOf } from '../../engine/preview/previewed.ts'
import type { IsolatedProcess } from './isolated-process.ts'

type Reads = Pick<ReadStore, 'readRecordings' | 'listGuardUse'>

/** Effects of a run that are listed; all are counted. */
const LISTED = 200

/** Previews how held runs go on, from their journals to their end. Real reads, and no effect. */
export async function lookAhead(
  store: Reads,
  isolated: Pick<IsolatedProcess, 'previewOne'>,
  {
    runs,
    items,
    now,
  }: { runs: readonly string[]; items: readonly Pick<ApprovalItem, 'runId' | 'step'>[]; now: number },
): Promise<Foreseen['ahead']> {
  const use = await store.listGuardUse(now)
  const recordings = await store.readRecordings(runs)
  const found: Foreseen['ahead'] = []
  for (const { run, claim, steps } of recordings) {
    const listed = new Set(items.filter(({ runId }) => runId === run.id).map(({ step }) => step))
    const { effects, end } = await isolated.previewOne(
      { claim, steps },
      { readsLive: true, plans: { use, borrows: true } },
    )
    const isNew = ({ class: kind, step }: PreviewedEffect) =>
      (kind === 'delete' || kind === 'write') && !listed.has(step)
    found.push(describeAhead(run.id, effects.filter(isNew), end))
  }
  return found
}

function describeAhead(run: string, effects: readonly PreviewedEffect[], end: PreviewedEnd): Foreseen['ahead'][number] {
  return {
    run,
    effects: effects.length,
    bytes: effects.reduce((sum, { asked }) => sum + (asked?.bytes ?? 0), 0),
    list: effects.slice(0, LISTED).map(({ class: kind, step, target, asked }) => ({
      class: kind as 'delete' | 'write',
      step,
      target,
      path: asked?.path ?? null,
      bytes: asked?.bytes ?? null,
      isFolder: asked?.isFolder ?? false,
    })),
    end: { kind: end.kind, step: 'step' in end ? end.step : null, reason: whyOf(end) },
  }
}
