import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { Notice } from '../../core/notices.ts'
import type { Arrivals } from '../../engine/claim/claim-on-arrival.ts'
import { WorkerCounts } from '../../engine/claim/worker-counts.ts'
import { catchStrayErrors } from '../../engine/pass/catch-stray-errors.ts'
import { findCodeAtWork } from '../../engine/pass/scope.ts'
import { createNoticeBus } from '../../notices/notice-bus.ts'
import { adoptHidden } from '../../project/config/environment.ts'
import { Intrinsics } from '../../project/workflows/intrinsics.ts'
import type { SkippedModule } from '../../project/workflows/load-workflows.ts'
import { openConnectedStore } from '../../store/open-store.ts'
import { Link, type LinkMessage } from '../preview/child/link.ts'
import { DatabaseClock } from './database/database-clock.ts'
import { keepOwnDatabase } from './database/keep-own-database.ts'
import type { EngineAccess } from './engine.ts'
import type { EngineStart } from './engine-config.ts'
import { forwardNotices } from './forward-notices.ts'
import { LocalEngine } from './local-engine.ts'
import { collectWhenIdle } from './watch/collect-when-idle.ts'
import { giveAnswer } from './watch/question.ts'

/** The thread that calls author code. The main thread watches its pulse: see decision 35. */
const begin = workerData as MessagePort
const start = await new Promise<EngineStart>((resolve) => begin.once('message', resolve))
const { config, store: options, port, worker, counts, pulse, pulseMs, variables, skipped } = start
adoptHidden(variables)
const beats = new Int32Array(pulse)
const beat = () => {
  Atomics.add(beats, 0, 1)
  Atomics.notify(beats, 0)
}
// The first tells that author code may hold the thread from now on.
beat()
setInterval(() => {
  beat()
  reportReplaced()
}, pulseMs)
/** How often the file limits are told. */
const LIMITS_EVERY_MS = 5_000

const notices = createNoticeBus()
const post = (message: LinkMessage | Notice[]) => parentPort?.postMessage(message)
const flush = forwardNotices(notices, post)
/** The notices of a call come before its answer. */
const answer = (call: () => Promise<unknown>) =>
  call()
    .finally(flush)
    .then(() => {})
const parent = new Link(post, {
  load: () => answer(() => loading),
  start: (access: EngineAccess) => answer(async () => (await loading).start(access)),
  stop: () => answer(async () => stop(await loading)),
  wake: async () => (await loading).wake(),
})
catchStrayErrors(notices.publish)
process.on('exit', () => parent.tell('exiting', findCodeAtWork()))
collectWhenIdle()
giveAnswer('codeAtWork', findCodeAtWork)
keepOwnDatabase(options)
const intrinsics = new Intrinsics()
let replacedBy: unknown
giveAnswer('replacedBy', () => replacedBy)
const store = await openConnectedStore(options, port)
let stopClock = () => {}

const loading = load()
parentPort?.on('message', (message: LinkMessage | Arrivals) => {
  if ('claimed' in message) void loading.then((engine) => engine.receive(message))
  else parent.receive(message)
})
void loading.then(
  (engine) => setInterval(() => parent.tell('limits', engine.load.fileLimits), LIMITS_EVERY_MS),
  // The answer to `load` tells of it.
  () => {},
)

/** In this thread's next load, and in the threads after it. */
function skip(module: SkippedModule): void {
  skipped.push(module)
  parent.tell('late', module)
}

async function load(): Promise<LocalEngine> {
  const { clock, stop } = await DatabaseClock.follow(store)
  stopClock = stop
  return LocalEngine.load({
    config,
    store,
    notices,
    clock,
    random: Math.random,
    worker: { id: worker, counts: new WorkerCounts(counts) },
    modules: { skipped, onLoading: (module) => parent.tell('loading', module), onLate: skip },
    onLoaded: (codeHashes, broken) => parent.tell('loaded', codeHashes, broken),
  })
}

function reportReplaced(): void {
  const replaced = intrinsics.restore()
  if (replaced === null) return
  replacedBy = replaced.by
  parent.tell('replaced', replaced.name)
}

async function stop(engine: LocalEngine): Promise<void> {
  await engine.stop()
  stopClock()
  await store.close()
}
