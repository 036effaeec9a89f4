import { systemClock } from '../core/time.ts'
import { logNotices } from '../notices/log/log-notices.ts'
import { readTerminal } from '../notices/log/read-terminal.ts'
import { KnownSecrets } from '../notices/log/redact.ts'
import { createNoticeBus } from '../notices/notice-bus.ts'
import { hideVariables, processEnvironment } from '../project/config/environment.ts'
import type { Config } from '../project/config/load-config.ts'
import { listUnknown } from '../project/config/variables.ts'
import { readFileLimit } from '../project/process-setup.js'
import type { App } from './app.ts'
import type { AppUrls } from './app-urls.ts'
import { awaitDatabase } from './engine/database/await-database.ts'
import { beginEarly } from './engine/start/begin-thread.ts'
import { collectWhenIdle } from './engine/watch/collect-when-idle.ts'
import type { WaitingRoom } from './health/waiting-room.ts'
import { planParts } from './role.ts'

interface ServeOptions {
  /** `pretty` for a person, `json` for a log collector. */
  log: 'pretty' | 'json'
  /** Only for `pretty`. */
  colour?: boolean
}

interface Served {
  app: App
  urls: AppUrls
  /** Resolves when the app has drained; rejects with the error of its stop. */
  ended: Promise<void>
}

/** Time beyond `drain` after which a stop asks whether the database is away. */
const LATE_STOP_MS = 5_000
/** Time in which a program tells why its stop failed, before what is left of the app ends. */
const TELL_MS = 1_000
/** Exit code after a second request to stop. */
const EXIT_FORCED = 130

/**
 * Runs the app until a signal, with its log on standard output. The first signal drains it, and no
 * acknowledged delivery is lost; the second one exits at once with 130. A start waits for a
 * database that does not answer yet.
 */
export async function serve(config: Config, { log, colour = false }: ServeOptions): Promise<Served> {
  const notices = createNoticeBus()
  const secrets = new KnownSecrets()
  const unknown = listUnknown(processEnvironment(), config.secretVariables ?? [])
  hideVariables(config.secretVariables ?? [])
  if (planParts(config).work) beginEarly(config.engine)
  const terminal = readTerminal(process.stdout, processEnvironment())
  // Only one is loaded: lines for people take many modules, and so do lines for programs.
  const lines =
    log === 'pretty'
      ? (await import('../notices/log/pretty-line.ts')).prettyLines({ clock: systemClock, colour, ...terminal })
      : (await import('../notices/log/json-lines.ts')).jsonLines()
  const noticeLog = logNotices(notices, { level: config.logLevel, secrets, lines })
  for (const variable of unknown) notices.publish({ kind: 'variable.unknown', ...variable })
  const limit = readFileLimit()
  const { connections } = config.receive
  if (planParts(config).receive && limit !== null && limit <= connections)
    notices.publish({ kind: 'files.limited', limit, connections })
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  let app: App | null = null
  let isLeaving = false
  const leave = (signal: string) => {
    if (isLeaving) process.exit(EXIT_FORCED)
    isLeaving = true
    // An app that waits for its database has nothing to drain.
    const left = app === null ? noticeLog.end().then(() => process.exit(0)) : stopOrGiveUp(app, config, signal)
    left
      .finally(() => noticeLog.end())
      .then(resolve, (error) => {
        reject(error)
        // Without its database, parts of the app are still at work.
        setTimeout(() => process.exit(), TELL_MS).unref()
      })
  }
  const listeners = (['SIGTERM', 'SIGINT'] as const).map((signal) => {
    const listener = () => leave(signal)
    process.on(signal, listener)
    return () => process.off(signal, listener)
  })
  const removeListeners = () => {
    for (const remove of listeners) remove()
  }
  ended.then(removeListeners, removeListeners)
  ended.then(collectWhenIdle(), () => {})
  let room: WaitingRoom | null = null
  const start = async () => {
    const { App } = await import('./app.ts')
    app = await App.create(config, { notices, secrets })
    try {
      await room?.close()
      room = null
      return { app, urls: await app.start() }
    } catch (error) {
      await app.stop('it could not start').catch(() => {})
      app = null
      throw error
    }
  }
  const failed = async (error: unknown) => {
    const { WaitingRoom } = await import('./health/waiting-room.ts')
    room ??= await WaitingRoom.open(config, error)
    room.why = error
  }
  try {
    const started = await awaitDatabase(start, { publish: notices.publish, isOver: () => isLeaving, failed })
    return { ...started, ended }
  } catch (error) {
    removeListeners()
    await noticeLog.end()
    throw error
  }
}

/** Nothing is written without the database; the next start repeats what is left. */
async function stopOrGiveUp(app: App, { drainMs }: Config, signal: string): Promise<void> {
  const away = Promise.withResolvers<never>()
  const look = () => void app.store.checkWritable(app.clock.now()).catch(away.reject)
  setTimeout(look, drainMs + LATE_STOP_MS).unref()
  await Promise.race([app.stop(`signal ${signal}`), away.promise])
}
