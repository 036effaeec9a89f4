import { setTimeout as sleep } from 'node:timers/promises'
import { describeError } from '../../core/errors.ts'
import { planAlone } from '../../core/runs/blame.ts'
import { createNoticeBus } from '../../notices/notice-bus.ts'
import { adoptHidden } from '../../project/config/environment.ts'
import { openSharedStore } from '../../store/open-store.ts'
import { serveParent } from '../preview/child/link.ts'
import { awaitDatabase } from './database/await-database.ts'
import { DatabaseClock } from './database/database-clock.ts'
import { EngineThread } from './engine-thread.ts'
import { forwardNotices } from './forward-notices.ts'
import type { QuarantineStart } from './quarantine.ts'
import { SupervisedEngine } from './supervised-engine.ts'

/** How often to look whether any suspect is left. */
const LOOK_EVERY_MS = 200

/** The quarantine process. It ends with the last one, or its parent. */
async function main({ config: given, storeOptions, access, variables }: QuarantineStart): Promise<void> {
  adoptHidden(variables)
  const config = { ...given, suspects: 'only' as const }
  const notices = createNoticeBus()
  notices.subscribe('engine.ended', (end) => {
    config.aloneMs = planAlone(config.aloneMs, end)
  })
  const flush = forwardNotices(notices, (heard) => parent.tell('heard', heard))
  const options = { ...storeOptions, vaultKey: Buffer.from(storeOptions.vaultKey) }
  const isOver = () => isTold
  const fault = await awaitDatabase(trySuspects, { publish: notices.publish, isOver }).catch((error: unknown) => error)
  if (fault !== undefined && !isTold)
    notices.publish({ kind: 'fault', where: 'trying suspects alone', error: describeError(fault) })
  flush()
  process.exit(fault === undefined || isTold ? 0 : 1)

  async function trySuspects(): Promise<void> {
    const store = await openSharedStore(options)
    const closing = [() => store.close()]
    let thread: EngineThread | undefined
    try {
      const { clock, stop } = await DatabaseClock.follow(store)
      closing.unshift(async () => stop())
      const engine = await SupervisedEngine.load({
        config,
        store,
        clock,
        notices,
        begin: (begin) => {
          thread = new EngineThread({ config, store, ...begin, storeOptions: options, now: clock.now() })
          parent.tell('began', thread.id)
          return thread
        },
      })
      closing.unshift(() => engine.stop())
      cut = () => {
        engine.stop().catch(() => {})
        void thread?.end({ cause: 'killed', error: { name: 'Error', message: 'The app is gone.' } })
      }
      // Without its parent, the next process tries the suspects.
      if (!isTold) await engine.start(access)
      const isDone = async () => !(await store.hasSuspects()) && (await engine.isIdle())
      while (!isTold && !(await isDone())) await sleep(LOOK_EVERY_MS)
    } finally {
      for (const close of closing) await close().catch(() => {})
    }
  }
}

let isTold = false
let cut = () => {}
const stop = () => {
  isTold = true
}
/** Its run is given back without blame, for another process to try. */
const gone = () => {
  stop()
  cut()
}
const parent = serveParent({ start: main, stop }, { gone })
