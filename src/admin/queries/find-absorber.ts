import type { Run } from '../../core/runs/run.ts'
import type { ReadStore } from '../../core/store/store.ts'

/** The run that has the event of a folded one in the end; null where it was not folded. */
export async function findAbsorber(
  store: Pick<ReadStore, 'findRun'>,
  { foldedInto }: Pick<Run, 'foldedInto'>,
): Promise<Run | null> {
  if (foldedInto === null) return null
  const next = await store.findRun(foldedInto)
  return next === null ? null : ((await findAbsorber(store, next)) ?? next)
}

/** Those of some runs, each once. */
export async function findAbsorbers(store: Pick<ReadStore, 'findRun'>, runs: readonly Run[]): Promise<Run[]> {
  const found = await Promise.all(runs.map((run) => findAbsorber(store, run)))
  return [...new Map(found.flatMap((run) => (run === null ? [] : [[run.id, run] as const]))).values()]
}
