import { codeHashOf } from '../../author/read-workflow.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { rootOf } from '../../core/runs/claim.ts'
import { type Checkpoint, DEFAULT_MAX_STEPS } from '../../core/runs/step.ts'
import { limitsWrites } from '../../core/safety/guard.ts'
import { readWorkflowGuard } from '../../core/safety/guard-schema.ts'
import type { PlannedTags } from '../admit/plan-tags.ts'
import { RunProgress, RunTags } from '../pass/annotations.ts'
import { computeDeadline } from '../pass/deadline.ts'
import { CallSites } from '../pass/find-call-site.ts'
import { Journal } from '../pass/journal.ts'
import { OutcomeOrder } from '../pass/order/outcome-order.ts'
import type { Pass } from '../pass/pass.ts'
import { describeUnsaved } from '../pass/wait.ts'
import type { JournalStore, WorkerParts } from '../worker-parts.ts'

export type PassParts = Pick<
  WorkerParts,
  | 'routes'
  | 'clock'
  | 'random'
  | 'publish'
  | 'stillMs'
  | 'guard'
  | 'runInSpan'
  | 'gatherMs'
  | 'outside'
  | 'maxSteps'
  | 'callbackUrl'
  | 'checkPlan'
> & { store: Pass['store'] & JournalStore }

interface Opening extends Pick<Pass, 'run' | 'matcher' | 'parking' | 'abort' | 'spellings' | 'stub'> {
  tags: PlannedTags
  workflow: AnyWorkflow
  /** Steps of earlier passes. */
  known: readonly Checkpoint[]
  /** When the run's first pass began. */
  startedAt: number
}

export function openPass(parts: PassParts, opening: Opening): Pass {
  const { run, workflow, known, startedAt, matcher, parking, abort, spellings, stub } = opening
  const { store, clock, publish, guard, maxSteps = DEFAULT_MAX_STEPS } = parts
  const ownLimits = readWorkflowGuard(workflow)
  const hash = codeHashOf(workflow)
  const isOtherCode = run.codeHash !== hash
  // Any code may begin a journal that is still empty.
  const isEmpty = run.codeHash === null || known.length === 0
  const codeHash = isOtherCode && isEmpty ? hash : null
  // Code that failed outside a step may come further in this pass without a new step.
  const tags = new RunTags(opening.tags.known, opening.tags.more)
  const isContinued = run.attempt === 0 && known.some(({ status }) => status === 'waiting')
  const journal = new Journal({ store, lease: run.lease, known, startedAt, tags, codeHash, isContinued })
  const order = new OutcomeOrder(known, {
    room: () => journal.room()?.catch((error: unknown) => parking.endPass(describeUnsaved(error))) ?? null,
    entered: () => parking.enterStep(),
    left: () => parking.leaveStep(),
  })
  return {
    ...parts,
    run,
    on: workflow.on,
    root: rootOf(run),
    journal,
    order,
    maxSteps: workflow.limits?.steps ?? maxSteps,
    parking,
    progress: new RunProgress({
      clock,
      save: async (progress) => {
        await journal.saveProgress(progress)
        publish({ kind: 'run.progress', run: run.lease.runId, workflow: run.workflow, root: rootOf(run), progress })
      },
      load: async () => (known.length === 0 ? null : ((await store.findRun(run.lease.runId))?.progress ?? null)),
      isReplaying: () => order.isReplaying,
      isClosed: () => parking.isClosed,
    }),
    abort,
    spellings,
    tags,
    isCodeChanged: isOtherCode && !isEmpty,
    places: CallSites.of(workflow.run),
    retry: workflow.retry,
    stepTimeout: workflow.timeout?.step,
    ownLimits,
    limitsWrites: guard.limits !== null && limitsWrites(guard.limits, ownLimits),
    deadline: computeDeadline(workflow, { startedAt, ...(run.endsBy !== undefined && { endsBy: run.endsBy }) }),
    matcher,
    ...(stub && { stub }),
  }
}
