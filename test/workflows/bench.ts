import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { paths, pathsIn } from '../../config/paths.ts'
import type { Notice } from '../../src/core/notices.ts'
import type { Run } from '../../src/core/run.ts'
import type { AnyWorkflow } from '../../src/core/workflow.ts'
import type { WorkerStore } from '../../src/engine/worker.ts'
import type { Sandbox, SandboxOptions } from '../../src/sandbox/index.ts'
import { startSandbox } from '../../src/sandbox/index.ts'
import { testClient } from '../files/test-client.ts'
import { incoming } from '../support/fixtures.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { createTestEngine, type TestEngine } from '../support/test-engine.ts'
import type { Crash } from './crash.ts'

/** An event as the sandbox tells it. */
export interface Told {
  id: string
  type: string
  created: string
  data: object
}

/** One workflow on the real engine, a real store and the sandbox over HTTP, with output folders of its own. */
export interface Bench {
  engine: TestEngine
  sandbox: Sandbox
  /** Folder of everything that the workflow writes. */
  folder: string
  /** The last event of a type that the sandbox told of. */
  told(type: string): Told
  /** Follows an event up until the run has ended or waits for a person; retries and crashes cost no time. */
  follow(event: Told): Promise<Run>
  /** The same for a due moment of a cron line. */
  tick(scheduledFor: string): Promise<Run>
  /** A JSON document that the workflow wrote, or null. */
  document(...path: string[]): Record<string, unknown> | null
  /** Every file below the folder, as paths from it, in order. */
  written(): string[]
}

/** `crash` interrupts the run once; the other options are those of the sandbox. Everything ends with the test. */
export async function openBench(
  workflow: AnyWorkflow,
  { crash, ...options }: Partial<SandboxOptions> & { crash?: Crash } = {},
): Promise<Bench> {
  const folder = tempFolder()
  override(paths, pathsIn(folder))
  const engine = createTestEngine()
  const sandbox = await startSandbox({
    dir: tempFolder(),
    plan: 'unlimited',
    clock: 'manual',
    hints: false,
    ...options,
  })
  onTestFinished(() => sandbox.stop())
  const { key } = await sandbox.keys.create({ name: 'bench', scope: 'read-write' })
  const { files } = testClient({ baseUrl: sandbox.url, apiKey: key, startAt: sandbox.clock.now() })
  const store: WorkerStore = crash ? crash.wrap(engine.store) : engine.store
  const worker = await engine.start([workflow], { store, filesFor: (_account, around) => files.within(around) })

  const toEnd = async (runId: string) => {
    for (;;) {
      const ended = passEnded(engine, runId)
      worker.wake()
      await ended
      const run = await engine.store.findRun(runId)
      if (!run) throw new Error(`no run ${runId}`)
      if (run.status !== 'waiting' || run.dueAt === null) return run
      engine.clock.set(Math.max(engine.clock.now(), run.dueAt))
    }
  }
  return {
    engine,
    sandbox,
    folder,
    told(type) {
      const event = sandbox.events.list({ type }).at(-1)
      if (!event) throw new Error(`the sandbox told of no ${type}`)
      return event
    },
    async follow(event) {
      const delivery = incoming(event.id, { workflows: [workflow.id], body: JSON.stringify(event) })
      const { runs } = await engine.store.saveDelivery(delivery)
      return toEnd(runs[0] ?? '')
    },
    async tick(scheduledFor) {
      await engine.store.startSchedule(workflow.id, 'any line', engine.clock.now())
      const tick = { scheduledFor: Date.parse(scheduledFor), missed: 0 }
      return toEnd((await engine.store.recordTick(workflow.id, tick, engine.clock.now())) ?? '')
    },
    document(...path) {
      const file = join(folder, ...path)
      return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null
    },
    written: () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
        .sort(),
  }
}

/** Changes values of a sample's configuration until the test is over. */
export function override<T extends object>(config: T, values: Partial<T>): void {
  const before = { ...config }
  Object.assign(config, values)
  onTestFinished(() => void Object.assign(config, before))
}

/** What a run returned. */
export function outputOf(run: Run): Record<string, unknown> {
  if (run.status !== 'completed') throw new Error(`the run is ${run.status}: ${run.reason ?? run.error?.message}`)
  return JSON.parse(run.output ?? 'null')
}

function passEnded({ notices }: TestEngine, runId: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = notices.subscribe('*', (notice: Notice) => {
      const isEnd = /^run\.(completed|failed|parked|retried|skipped|released|lost)$/.test(notice.kind)
      if (!isEnd || !('run' in notice) || notice.run !== runId) return
      stop()
      resolve()
    })
  })
}
