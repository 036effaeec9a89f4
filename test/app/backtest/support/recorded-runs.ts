import { readCases } from '../../../../src/app/backtest/read-cases.ts'
import { playJob } from '../../../../src/app/play/play-job.ts'
import type { AnyWorkflow } from '../../../../src/author/workflow.ts'
import { DEFAULT_POLICY } from '../../../../src/core/safety/guard.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { type Comparison, compareSides } from '../../../../src/engine/play/compare/compare-sides.ts'
import { sideOfPlay } from '../../../../src/engine/play/compare/side-of-play.ts'
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

/** A recorded run that was played with some code. */
export interface ComparedRun {
  run: string
  event: string | null
  /** How the recorded run ended. */
  end: string
  verdict: Comparison
  isSteady: boolean
}

/** Plays all recorded runs of a workflow with this code, without a read of the service. */
export async function compareAll(
  store: Store,
  workflow: AnyWorkflow,
  { withOutputs = true, isTwice = true } = {},
): Promise<ComparedRun[]> {
  const world = {
    parts: { reads: store, guard: DEFAULT_POLICY },
    readFiles: () => Promise.reject(new Error('no read is made')),
    rules: { readsLive: false, rerun: [], fixtures: {} },
  }
  const found: ComparedRun[] = []
  for await (const { cases } of readCases(store, { workflow: workflow.id, since: 0 }, { withOutputs })) {
    for (const { run, event, job, side, isCut } of cases) {
      const played = await playJob(world, workflow, { ...job, isTwice })
      const verdict = compareSides(side, sideOfPlay(played), { withOutputs, isCut })
      found.push({ run, event, end: side.end.kind, verdict, isSteady: played.isSteady })
    }
  }
  return found
}
