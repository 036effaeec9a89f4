import { test as base, onTestFinished } from 'vitest'
import { planRoutes } from '../../src/author/read-workflow.ts'
import type { AnyWorkflow } from '../../src/author/workflow.ts'
import type { Notice } from '../../src/core/notices.ts'
import type { Run } from '../../src/core/runs/run.ts'
import { DEFAULT_POLICY } from '../../src/core/safety/guard.ts'
import type { FilesApi } from '../../src/core/service/files-api.ts'
import type { Store } from '../../src/core/store/store.ts'
import { type Duration, ManualClock } from '../../src/core/time.ts'
import { SHORT_STILL_MS } from '../../src/engine/execute/watch-replay.ts'
import { Worker } from '../../src/engine/worker.ts'
import type { FilesFor, WorkerParts } from '../../src/engine/worker-parts.ts'
import { createNoticeBus, type NoticeBus } from '../../src/notices/notice-bus.ts'
import { NOW, queueRun } from './fixtures.ts'
import { openTestStore } from './test-store.ts'
import { define } from './workflows.ts'

const noFiles: FilesFor = () =>
  new Proxy({} as FilesApi, { get: () => () => Promise.reject(new Error('no files here')) })

export interface TestEngine {
  store: Store
  folder: string
  clock: ManualClock
  notices: NoticeBus
  /** Every notice so far. */
  heard: Notice[]
  /** Starts a worker with these workflows; it is stopped at the end of the test. */
  start(
    workflows: AnyWorkflow[],
    options?: Partial<
      Pick<
        WorkerParts,
        | 'slots'
        | 'admitsAhead'
        | 'filesFor'
        | 'spellingsOf'
        | 'findMadeUp'
        | 'store'
        | 'drainMs'
        | 'guard'
        | 'reportsTimers'
        | 'outside'
        | 'gatherMs'
        | 'passCache'
        | 'planner'
        | 'maxSteps'
        | 'suspects'
        | 'aloneMs'
      >
    >,
  ): Promise<Worker>
  /** Starts a worker with one workflow, which runs on any event unless its options say more. */
  serve(...parts: Parameters<typeof define>): Promise<Worker>
  /** Enqueues a run and returns it after its pass. */
  run(workflow: string, eventId?: string): Promise<Run>
  /** Wakes the workers and returns a run after its next pass. */
  passOf(runId: string): Promise<Run>
  /** Advances the clock and returns a run after its next pass. */
  advance(runId: string, duration: Duration): Promise<Run>
}

/** The real engine on a real store, with a clock that the test advances. */
export function createTestEngine(store: Store & { folder: string } = openTestStore()): TestEngine {
  const clock = new ManualClock(NOW)
  const notices = createNoticeBus()
  const heard: Notice[] = []
  notices.subscribe('*', (notice) => heard.push(notice))
  const workers: Worker[] = []

  const passEnded = (runId: string) =>
    new Promise<void>((resolve) => {
      const stop = notices.subscribe('*', (notice) => {
        if (!isEnd(notice) || notice.run !== runId) return
        stop()
        resolve()
      })
    })
  const find = async (runId: string) => {
    const run = await store.findRun(runId)
    if (!run) throw new Error(`no run ${runId}`)
    return run
  }

  const passOf = async (runId: string) => {
    const ended = passEnded(runId)
    for (const worker of workers) worker.wake()
    await ended
    return find(runId)
  }

  return {
    store,
    folder: store.folder,
    clock,
    notices,
    heard,
    async start(workflows, options = {}) {
      const worker = new Worker({
        store,
        clock,
        random: () => 0.5,
        publish: notices.publish,
        findWorkflow: (id) => workflows.find((workflow) => workflow.id === id),
        filesFor: noFiles,
        routes: () => workflows.flatMap(planRoutes),
        guard: DEFAULT_POLICY,
        slots: 10,
        drainMs: 1_000,
        stillMs: SHORT_STILL_MS,
        gatherMs: 0,
        ...options,
      })
      workers.push(worker)
      onTestFinished(() => worker.stop())
      await worker.start()
      return worker
    },
    serve(...parts) {
      return this.start([define(...parts)])
    },
    async run(workflow, eventId = 'evt_1') {
      return passOf(await queueRun(store, eventId, workflow))
    },
    passOf,
    async advance(runId, duration) {
      const ended = passEnded(runId)
      clock.advance(duration)
      await ended
      return find(runId)
    },
  }
}

/** A test names the engine that it uses. */
export const test = base.extend('engine', () => createTestEngine())

const ENDS = [
  'run.completed',
  'run.failed',
  'run.parked',
  'run.limited',
  'run.ready',
  'run.canceled',
  'run.retried',
  'run.skipped',
  'run.planned',
  'run.released',
  'run.lost',
] as const
type End = Extract<Notice, { kind: (typeof ENDS)[number] }>

function isEnd(notice: Notice): notice is End {
  return (ENDS as readonly string[]).includes(notice.kind)
}
