import { test as base, onTestFinished } from 'vitest'
import { cron } from '../../../src/author/cron.ts'
import { planEndpoint } from '../../../src/core/incoming/endpoint.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { claimNext } from '../../contract/support/claim-next.ts'
import { checkpoint, queueRun } from '../../support/fixtures.ts'
import { openDataDir } from '../../support/open-data-dir.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { runHere } from './run-here.ts'

const ERROR = { name: 'Error', message: 'no luck', step: 'b' }

/** A data directory with three workflows, one of them with a schedule, and no app. */
export async function openTestProject() {
  const dataDir = tempFolder()
  const store = openDataDir({ dataDir, secretKey: null })
  onTestFinished(() => store.close())
  await store.addEndpoint(planEndpoint({ name: 'main' }, Date.now()))
  const workflow = (id: string, eventTypes: string[]) => ({ id, file: `${id}.workflow.ts`, eventTypes, schedule: null })
  const nightly = { ...workflow('nightly', []), schedule: cron('0 3 * * *') }
  const workflows = [workflow('follow-up', ['file.created']), workflow('count', ['*']), nightly]
  await store.saveWorkflows({ workflows, broken: [] }, Date.now())
  const cli = (...args: string[]) => runHere(dataDir, [...args, '--json'])
  return { dataDir, store, cli }
}

/** A test names what it uses of a project. */
export const test = base
  .extend('project', () => openTestProject())
  .extend('dataDir', ({ project }) => project.dataDir)
  .extend('store', ({ project }) => project.store)
  .extend('cli', ({ project }) => project.cli)

/** A run that is at work. */
export async function beginRun(store: Store, eventId = 'evt_1', workflow = 'follow-up', now = Date.now()) {
  await queueRun(store, eventId, workflow, now)
  return (await claimNext(store, now)).lease
}

/** A run of `follow-up` that failed in its second step; returns its id. */
export async function failRun(store: Store, eventId: string): Promise<string> {
  const now = Date.now()
  const lease = await beginRun(store, eventId)
  await store.saveCheckpoint(lease, checkpoint('a', { output: '"from a"', startedAt: now, finishedAt: now }))
  const failed = { position: 1, status: 'failed', output: null, error: ERROR, startedAt: now, finishedAt: now } as const
  await store.saveCheckpoint(lease, checkpoint('b', failed))
  await store.failRun(lease, ERROR, now)
  return lease.runId
}

/** The status of a run. */
export const statusOf = async (store: Store, id: string) => (await store.findRun(id))?.status
