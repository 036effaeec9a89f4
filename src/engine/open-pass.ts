import type { StorageSpellings } from '../core/file.ts'
import type { ClaimedRun } from '../core/run.ts'
import type { Store } from '../core/store.ts'
import type { AnyWorkflow } from '../core/workflow.ts'
import { codeHashOf } from './code-hash.ts'
import { Journal } from './journal.ts'
import type { Parking } from './parking.ts'
import type { Pass, PassStore } from './pass.ts'

/** Results up to this size are read ahead; larger ones when their step is reached, so that they are not all in memory. */
const READ_AHEAD_BYTES = 4_096

/** What a pass needs of the worker. */
type PassTools = Pick<Pass, 'matcher' | 'routes' | 'clock' | 'random' | 'publish'> & {
  store: PassStore & Pick<Store, 'saveCheckpoint' | 'listSteps'>
}

export interface PassRequest {
  run: ClaimedRun
  workflow: AnyWorkflow
  spellings: StorageSpellings
  parking: Parking
  abort: AbortController
}

/** Reads the journal of a run that was claimed. */
export async function openPass(tools: PassTools, request: PassRequest): Promise<Pass> {
  const { run, workflow, spellings, parking, abort } = request
  const { store, matcher, routes, clock, random, publish } = tools
  const known = run.isFirstPass ? [] : await store.listSteps(run.lease.runId, READ_AHEAD_BYTES)
  const hash = codeHashOf(workflow)
  const codeHash = run.codeHash === null ? hash : null
  return {
    run,
    journal: new Journal({ store, lease: run.lease, known, startedAt: run.startedAt, codeHash }),
    parking,
    abort,
    spellings,
    isCodeChanged: run.codeHash !== null && run.codeHash !== hash,
    retry: workflow.retry,
    stepTimeout: workflow.timeout?.step,
    store,
    matcher,
    routes,
    clock,
    random,
    publish,
  }
}
