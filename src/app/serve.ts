import { logNotices } from '../notices/log/log-notices.ts'
import { createNoticeBus } from '../notices/notice-bus.ts'
import type { Config } from '../project/config/load-config.ts'
import { App } from './app.ts'
import type { AppUrls } from './app-urls.ts'

export interface ServeOptions {
  /** `pretty` for a person who watches, `json` for whoever collects lines. */
  log: 'pretty' | 'json'
  /** Only for `pretty`. */
  colour?: boolean
}

/** The app as the work of a whole process. */
export interface Served {
  app: App
  urls: AppUrls
  /**
   * The first call drains, the second leaves the process at once: nothing acknowledged is lost
   * either way. Signals do the same.
   */
  leave(reason: string): void
  /** Resolves once it has drained; rejects with what kept it from ending in order. */
  ended: Promise<void>
}

/** What a process says that was told a second time to stop. */
const LEFT_AT_ONCE = 130

/** Runs the app in this process with its log on standard output, until a signal or `leave`. */
export async function serve(config: Config, { log, colour = false }: ServeOptions): Promise<Served> {
  const notices = createNoticeBus()
  logNotices(notices, { level: config.logLevel, pretty: log === 'pretty', colour })
  const app = await App.create(config, { notices })
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  let isLeaving = false
  const leave = (reason: string) => {
    if (isLeaving) process.exit(LEFT_AT_ONCE)
    isLeaving = true
    app.stop(reason).then(resolve, reject)
  }
  const listeners = (['SIGTERM', 'SIGINT'] as const).map((signal) => {
    const listener = () => leave(`signal ${signal}`)
    process.on(signal, listener)
    return () => process.off(signal, listener)
  })
  const forget = () => {
    for (const stop of listeners) stop()
  }
  ended.then(forget, forget)
  const urls = await app.start().catch(async (error: unknown) => {
    forget()
    await app.stop('it could not start')
    throw error
  })
  return { app, urls, leave, ended }
}
