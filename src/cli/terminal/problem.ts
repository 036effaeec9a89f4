import { CommanderError } from 'commander'
import { type ErrorCode, redactUrls, UpshotError } from '../../core/errors.ts'
import { isoTime } from '../../core/time.ts'
import type * as Files from '../../files/index.ts'

/** Exit codes of every command; 0 is success. */
export const EXIT = {
  failed: 1,
  usage: 2,
  needsConfirmation: 3,
  authentication: 4,
  notFound: 5,
  temporary: 6,
  difference: 7,
  interrupted: 130,
} as const

/** How a command failed, for a script and for a person. */
export interface Problem {
  code: string
  message: string
  /** The next thing to do. */
  fix: string
  /** ISO 8601; only where somebody named a moment before which it is of no use. */
  retryAt?: string
  exit: number
}

type Meaning = readonly [exit: keyof typeof EXIT, fix: string]

const SEE_HELP = 'Add --help to the command to see what it takes.'
const TRY_LATER = 'Run the same command again in a moment.'
const REPORT = 'Run it again. If it stays, report it together with the output of "upshot version".'

const CODES: Record<ErrorCode, Meaning> = {
  invalid_config: ['usage', 'Correct the value that is named, then run the command again.'],
  invalid_duration: ['usage', SEE_HELP],
  invalid_workflow: ['failed', 'Correct the workflow that is named, then run the command again.'],
  invalid_event: ['usage', SEE_HELP],
  invalid_request: ['usage', SEE_HELP],
  invalid_signature: ['authentication', 'Compare secret, header and algorithm of the endpoint with the sender.'],
  not_found: ['notFound', 'Look for the right name with the "list" command of the same group.'],
  conflict: ['failed', 'Choose another name.'],
  body_too_large: ['usage', 'Send less, or raise receive.bodyBytes in config/upshot.config.ts.'],
  overloaded: ['temporary', TRY_LATER],
  draining: ['temporary', TRY_LATER],
  store_unavailable: [
    'temporary',
    'See that the disk is not full and the data directory can be written, then try again.',
  ],
  stale_lease: ['failed', 'Look at what happened to it with "upshot runs show <id>".'],
  output_too_large: ['failed', REPORT],
  step_failed: ['failed', 'Look at the run with "upshot runs show <id>".'],
  step_timeout: ['temporary', TRY_LATER],
  needs_confirmation: ['needsConfirmation', 'Add --yes to do it.'],
  run_timeout: ['failed', 'Look at the run with "upshot runs show <id>".'],
  not_running: ['temporary', 'Start the app with "npm start" in another terminal, then run this again.'],
  internal: ['failed', REPORT],
}

type FilesErrorName = Extract<keyof typeof Files, `${string}Error`>

/** By name, so that no command loads the client for the sake of its errors. */
const FILES_ERRORS: Record<FilesErrorName, Meaning> = {
  FilesError: ['failed', REPORT],
  AuthenticationError: ['authentication', 'Check SERVICE_API_KEY: the service refuses the key.'],
  PermissionError: ['authentication', 'Give the API key a scope that covers this call.'],
  InvalidRequestError: ['usage', SEE_HELP],
  NotFoundError: ['notFound', 'List the folder above with "upshot files ls <service:/path>".'],
  RateLimitError: ['temporary', 'Wait until the service takes calls again, then run this again.'],
  LocalRateLimitError: ['temporary', 'Wait until the limit leaves room again, then run this again.'],
  UpstreamError: ['temporary', TRY_LATER],
  ServerError: ['temporary', TRY_LATER],
  ProtocolError: ['failed', 'Check SERVICE_BASE_URL: what answers there does not speak like the service.'],
  ConnectionError: ['temporary', 'Check SERVICE_BASE_URL and the network, then run this again.'],
  TimeoutError: ['temporary', TRY_LATER],
  StalledError: ['temporary', TRY_LATER],
  AbortedError: ['interrupted', 'Run it again to start over.'],
}

/** Reads any thrown value; null for the end of a command that only printed its help or version. */
export function describeProblem(error: unknown): Problem | null {
  if (error instanceof CommanderError) return describeUsage(error)
  if (error instanceof UpshotError) {
    const { fix } = error.details
    return toProblem(error.code, error, CODES[error.code], typeof fix === 'string' ? fix : undefined)
  }
  if (isFilesError(error)) {
    const code = error.name
      .replace(/Error$/, '')
      .replace(/(?<=[a-z])(?=[A-Z])/g, '_')
      .toLowerCase()
    return toProblem(code, error, FILES_ERRORS[error.name])
  }
  if (error instanceof Error && error.name === 'AbortError') {
    return toProblem('aborted', error, FILES_ERRORS.AbortedError)
  }
  return toProblem('internal', error instanceof Error ? error : new Error(String(error)), CODES.internal)
}

function toProblem(
  code: string,
  error: Error & { retryAt?: number | null },
  [exit, fix]: Meaning,
  ownFix: string = fix,
): Problem {
  const retryAt = typeof error.retryAt === 'number' ? { retryAt: isoTime(error.retryAt) } : {}
  return { code, message: redactUrls(error.message), fix: ownFix, ...retryAt, exit: EXIT[exit] }
}

function isFilesError(error: unknown): error is Error & { name: FilesErrorName; retryAt?: number | null } {
  return error instanceof Error && Object.hasOwn(FILES_ERRORS, error.name)
}

/** Commander joins a message and a suggestion by a line break. */
function describeUsage({ exitCode, code, message }: CommanderError): Problem | null {
  if (exitCode === 0) return null
  const exit = EXIT.usage
  if (code === 'commander.help') {
    return { code: 'usage', message: 'The command is not complete.', fix: 'Name one of its commands.', exit }
  }
  const [what = '', suggestion] = message.replace(/^error: /, '').split('\n')
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)}`.replace(/(?<![.!?])$/, '.')
  return { code: 'usage', message: sentence, fix: suggestion?.replace(/^\((.*)\)$/, '$1') ?? SEE_HELP, exit }
}
