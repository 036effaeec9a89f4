import { parseArgs } from 'node:util'
import { UpshotError } from '../core/errors.ts'
import { adoptEnvFile, processEnvironment } from '../project/config/environment.ts'
import { loadConfig } from '../project/config/load-config.ts'
import { makeLoginLink } from './console/make-login-link.ts'
import { serve } from './serve.ts'

/** `npm start [-- --role <role>]`, until the app has stopped. Exits with 2 for `invalid_config`. */
export async function runProgram(): Promise<void> {
  try {
    await run()
  } catch (error) {
    fail(error)
  }
}

async function run(): Promise<void> {
  adoptEnvFile(process.cwd())
  const environment = processEnvironment()
  const role = readRole()
  const flags = role === undefined ? {} : { UPSHOT_ROLE: { flag: '--role', value: role } }
  const config = await loadConfig(environment, process.cwd(), { flags })
  const isTerminal = process.stdout.isTTY === true
  const { app, urls, ended } = await serve(config, {
    log: isTerminal ? 'pretty' : 'json',
    colour: isTerminal && !environment.NO_COLOR,
  })
  // A person at a terminal may log in; a log collector must not be given the code.
  if (isTerminal) {
    const { url } = await makeLoginLink(app.store, { config, adminUrl: urls.admin, role: 'admin' }, app.clock.now())
    process.stdout.write(`\nThe dashboard, with a login for the next ten minutes: ${url}\n\n`)
  }
  await ended
  process.exit(0)
}

function readRole(): string | undefined {
  try {
    return parseArgs({ options: { role: { type: 'string' } } }).values.role
  } catch (cause) {
    const fix = 'The only option of the app is --role <role>. All else is a command of "upshot".'
    throw new UpshotError('invalid_config', (cause as Error).message, { cause, details: { fix } })
  }
}

function fail(error: unknown): never {
  const isOurs = error instanceof UpshotError
  // A call of the system that failed says by itself of which path.
  const isPlain = isOurs || (error instanceof Error && 'syscall' in error)
  const text = isPlain ? error.message : error instanceof Error ? error.stack : String(error)
  const fix = isOurs ? error.details.fix : undefined
  // The message of a fault of the database ends with it.
  const isNew = typeof fix === 'string' && text?.endsWith(fix) !== true
  process.stderr.write(`${text}\n${isNew ? `${fix}\n` : ''}`)
  process.exit(isOurs && error.code === 'invalid_config' ? 2 : 1)
}
