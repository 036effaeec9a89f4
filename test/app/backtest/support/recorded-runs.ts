import { readCases } from '../../../../src/app/backtest/read-cases.ts'
import type { AnyWorkflow } from '../../../../src/author/workflow.ts'
import { DEFAULT_POLICY } from '../../../../src/core/safety/guard.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { type Comparison, compareSides } from '../../../../src/engine/preview/compare/compare-sides.ts'
import { sideOfPreview } from '../../../../src/engine/preview/compare/run-side.ts'
import { previewRun, type RecordedRun } from '../../../../src/engine/preview/preview-run.ts'
import { filesOf } from '../../../engine/support/files-in-runs.ts'
import { awaitFound } from '../../../support/await-runs.ts'
import type { TestEngine } from '../../../support/test-engine.ts'

/** Lets every run go as far as it comes without a person. */
export async function settle({ store, clock, notices }: TestEngine, wake: () => void): Promise<void> {
  for (let round = 0; round < 200; round++) {
    wake()
    await awaitFound(notices, async () => {
      const { pending, running } = await store.countOpenRuns(clock.now())
      return pending + running === 0 ? true : null
    })
    const due = await store.nextDueAt()
    if (due === null) return
    clock.advance(Math.max(due - clock.now(), 1_000))
  }
}

/** A recorded run that was previewed with some code. */
export interface ComparedRun {
  run: string
  event: string | null
  /** How the recorded run ended. */
  end: string
  verdict: Comparison
  isSteady: boolean
}

/** Previews all recorded runs of a workflow with this code, without a read of the service. */
export async function compareAll(
  store: Store,
  workflow: AnyWorkflow,
  { withOutputs = true, isTwice = true } = {},
): Promise<ComparedRun[]> {
  const parts = { reads: store, guard: DEFAULT_POLICY, filesFor: filesOf({}) }
  const preview = (job: RecordedRun) => previewRun(parts, workflow, job, { readsLive: false })
  const found: ComparedRun[] = []
  for await (const { cases } of readCases(store, { workflow: workflow.id, since: 0 }, { withOutputs })) {
    for (const { run, event, job, side, isCut } of cases) {
      const previewed = sideOfPreview(await preview(job))
      const verdict = compareSides(side, previewed, { withOutputs, isCut })
      const again = isTwice ? compareSides(previewed, sideOfPreview(await preview(job)), { withOutputs: true }) : null
      found.push({ run, event, end: side.end.kind, verdict, isSteady: again?.kind !== 'differs' })
    }
  }
  return found
}
