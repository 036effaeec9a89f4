import { codeHashOf } from '../../author/code-hash.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import type { Store } from '../../core/store/store.ts'
import { computeDeadline } from '../pass/deadline.ts'
import { Journal } from '../pass/journal.ts'
import type { Parking } from '../pass/parking.ts'
import type { Pass, PassStore } from '../pass/pass.ts'

/** What a pass needs of the worker. */
type PassTools = Pick<Pass, 'matcher' | 'routes' | 'clock' | 'random' | 'publish'> & {
  store: PassStore & Pick<Store, 'saveCheckpoint'>
}

export interface PassRequest {
  run: ClaimedRun
  workflow: AnyWorkflow
  /** Steps of earlier passes. */
  known: readonly Checkpoint[]
  /** When its first pass began. */
  startedAt: number
  spellings: StorageSpellings
  parking: Parking
  abort: AbortController
}

/** A pass through an admitted run, with its journal. */
export function openPass(tools: PassTools, request: PassRequest): Pass {
  const { run, workflow, known, startedAt, spellings, parking, abort } = request
  const { store, matcher, routes, clock, random, publish } = tools
  const hash = codeHashOf(workflow)
  const isOther = run.codeHash !== hash
  // Where nothing is written yet, any code may begin.
  const begins = run.codeHash === null || known.length === 0
  return {
    run,
    journal: new Journal({ store, lease: run.lease, known, startedAt, codeHash: isOther && begins ? hash : null }),
    parking,
    abort,
    spellings,
    isCodeChanged: isOther && !begins,
    retry: workflow.retry,
    stepTimeout: workflow.timeout?.step,
    deadline: computeDeadline(workflow, startedAt),
    store,
    matcher,
    routes,
    clock,
    random,
    publish,
  }
}
