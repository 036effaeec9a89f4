import { parentPort, workerData } from 'node:worker_threads'
import { UpshotError } from '../../core/errors.ts'
import { WorkerCounts } from '../../engine/claim/worker-counts.ts'
import { catchStrayErrors } from '../../engine/pass/catch-stray-errors.ts'
import { findCodeAtWork } from '../../engine/pass/outside/code-at-work.ts'
import { createNoticeBus } from '../../notices/notice-bus.ts'
import { adoptHidden } from '../../project/config/environment.ts'
import { Intrinsics } from '../../project/workflows/intrinsics.ts'
import type { SkippedModule } from '../../project/workflows/load-workflows.ts'
import { openConnectedStore } from '../../store/open-store.ts'
import { DatabaseClock } from './database/database-clock.ts'
import { type EngineStart, type FromEngine, type ToEngine, unpackArrivals } from './engine-messages.ts'
import { forwardNotices } from './forward-notices.ts'
import { LocalEngine } from './local-engine.ts'
import { collectWhenIdle } from './watch/collect-when-idle.ts'
import { giveAnswer } from './watch/give-answer.ts'

/** The thread that calls author code. The main thread watches its pulse: see decision 35. */
const { config, store: options, port, worker, counts, pulse, pulseMs, variables, skipped } = workerData as EngineStart
adoptHidden(variables)
const beats = new Int32Array(pulse)
setInterval(() => {
  Atomics.add(beats, 0, 1)
  tellReplaced()
}, pulseMs)
/** How often the file limits are told. */
const LIMITS_EVERY_MS = 5_000

const notices = createNoticeBus()
const tell = (message: FromEngine) => parentPort?.postMessage(message)
const flush = forwardNotices(notices, tell)
catchStrayErrors(notices.publish)
process.on('exit', () => tell({ kind: 'exiting', at: findCodeAtWork() }))
collectWhenIdle()
giveAnswer('codeAtWork', findCodeAtWork)
const intrinsics = new Intrinsics()
let replacedBy: unknown
giveAnswer('replacedBy', () => replacedBy)
const store = await openConnectedStore(options, port)
let stopClock = () => {}

const loading = load()
parentPort?.on('message', (message: ToEngine) => void loading.then((engine) => handle(engine, message)))
void answer('load', loading)
void loading.then((engine) => {
  setInterval(() => tell({ kind: 'limits', fileLimits: engine.load.fileLimits }), LIMITS_EVERY_MS)
})

/** In this thread's next load, and in the threads after it. */
function skip(module: SkippedModule): void {
  skipped.push(module)
  tell({ kind: 'late', module })
}

async function load(): Promise<LocalEngine> {
  const { clock, stop } = await DatabaseClock.follow(store)
  stopClock = stop
  return LocalEngine.load({
    ...{ config, store, notices },
    clock,
    random: Math.random,
    worker: { id: worker, counts: new WorkerCounts(counts) },
    modules: { skipped, onLoading: (module) => tell({ kind: 'loading', module }), onLate: skip },
    onLoaded: (codeHashes, broken) => tell({ kind: 'loaded', codeHashes, broken }),
  })
}

function handle(engine: LocalEngine, message: ToEngine): void {
  if (Array.isArray(message)) engine.receive(unpackArrivals(message))
  else if (message.kind === 'wake') engine.wake()
  else if (message.kind === 'endPass') engine.endPass(message.run)
  else if (message.kind === 'start') void answer('start', engine.start(message.access))
  else void answer('stop', stop(engine))
}

function tellReplaced(): void {
  const replaced = intrinsics.restore()
  if (replaced === null) return
  replacedBy = replaced.by
  tell({ kind: 'replaced', name: replaced.name })
}

async function stop(engine: LocalEngine): Promise<void> {
  await engine.stop()
  stopClock()
  await store.close()
}

async function answer(call: Extract<FromEngine, { kind: 'done' }>['call'], result: Promise<unknown>): Promise<void> {
  try {
    await result
    flush()
    tell({ kind: 'done', call })
  } catch (error) {
    flush()
    const { code, details } = error instanceof UpshotError ? error : { code: null, details: {} }
    const message = error instanceof Error ? error.message : String(error)
    tell({ kind: 'done', call, error: { code, message, details } })
  }
}
