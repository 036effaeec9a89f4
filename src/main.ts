import { createApp } from './app.ts'
import { loadConfig, processEnvironment } from './config.ts'
import { UpshotError } from './core/errors.ts'
import { logNotices } from './notices/log-subscriber.ts'
import { createNoticeBus } from './notices/notice-bus.ts'

/** The process of `npm start`: configuration, app, signals, exit code. */
async function main(): Promise<void> {
  const environment = processEnvironment()
  const config = await loadConfig(environment, process.cwd())
  const notices = createNoticeBus()
  const isTerminal = process.stdout.isTTY === true
  logNotices(notices, { level: config.logLevel, pretty: isTerminal, colour: isTerminal && !environment.NO_COLOR })
  const app = await createApp(config, { notices })
  stopOnSignals((signal) => app.stop(`signal ${signal}`))
  await app.start().catch(async (error: unknown) => {
    await app.stop('it could not start')
    throw error
  })
}

/** The first signal drains, the second leaves at once: nothing acknowledged is lost either way. */
function stopOnSignals(stop: (signal: string) => Promise<void>): void {
  let isStopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isStopping) process.exit(130)
      isStopping = true
      stop(signal).then(() => process.exit(0), fail)
    })
  }
}

function fail(error: unknown): never {
  const isOurs = error instanceof UpshotError
  process.stderr.write(`${isOurs ? error.message : error instanceof Error ? error.stack : String(error)}\n`)
  process.exit(isOurs && error.code === 'invalid_config' ? 2 : 1)
}

main().catch(fail)
