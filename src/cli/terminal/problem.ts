import { CommanderError } from 'commander'
import { type ErrorCode, redactUrls, UpshotError } from '../../core/errors.ts'
import { isoTime } from '../../core/time.ts'

/** Exit codes of every command; 0 is success. */
export const EXIT = {
  failed: 1,
  usage: 2,
  needsConfirmation: 3,
  authentication: 4,
  notFound: 5,
  temporary: 6,
  difference: 7,
  unknown: 8,
  interrupted: 130,
} as const

/** The failure of a command, for a script and for a person. */
export interface Problem {
  code: string
  message: string
  /** The next thing to do, as a sentence. */
  fix: string
  /** Earliest time of a useful retry, in ISO 8601; only if the service or the limit named one. */
  retryAt?: string
  exit: number
}

type Meaning = readonly [exit: keyof typeof EXIT, fix: string]

const SEE_HELP = 'Run the command with --help to see its arguments and options.'
const CORRECT = 'Correct the value named above, then run the command again.'
const TRY_LATER = 'Run the same command again in a moment.'
const REPORT = 'Run it again with --verbose. If it fails again, report it with the output of "upshot version".'

const CODES: Record<ErrorCode, Meaning> = {
  invalid_config: ['usage', CORRECT],
  invalid_duration: ['usage', SEE_HELP],
  invalid_workflow: ['failed', 'Correct the workflow named above, then run the command again.'],
  invalid_event: ['usage', SEE_HELP],
  invalid_request: ['usage', SEE_HELP],
  invalid_signature: [
    'authentication',
    "Compare the endpoint's secret, header and algorithm with those of the sender.",
  ],
  unauthenticated: ['authentication', 'Log in with "upshot dashboard", or send a valid token.'],
  forbidden: ['authentication', 'Use a token with more rights.'],
  not_found: ['notFound', 'Find the right name with the "list" command of the same group.'],
  unknown_operation: ['usage', 'Use the version of the server.'],
  conflict: ['failed', 'Look at its present state with the "show" or "list" command of the same group, then decide.'],
  list_changed: ['difference', 'Look at the list again, then decide.'],
  body_too_large: ['usage', 'Send a smaller body, or raise receive.bodyBytes in config/upshot.config.ts.'],
  misdirected: ['usage', 'Use the address that the app prints at its start, or name this one in admin.url.'],
  too_many_requests: ['temporary', TRY_LATER],
  overloaded: ['temporary', TRY_LATER],
  draining: ['temporary', TRY_LATER],
  key_refused: ['authentication', 'Check SERVICE_API_KEY, or the keys of the account: the service rejects them.'],
  service_failed: ['temporary', TRY_LATER],
  store_unavailable: [
    'temporary',
    'Make sure that the disk has free space and the data directory is writable, then run this again.',
  ],
  stale_lease: ['failed', 'See what happened to the run with "upshot runs show <id>".'],
  stale_plan: ['temporary', TRY_LATER],
  output_too_large: ['failed', REPORT],
  output_not_json: ['failed', REPORT],
  invoke_too_deep: ['failed', 'See the run and its steps with "upshot runs show <id>".'],
  step_failed: ['failed', 'See the run and its steps with "upshot runs show <id>".'],
  nested_step: ['failed', 'Call the inner step after the outer one, or use step.map for many.'],
  step_timeout: ['temporary', TRY_LATER],
  denied: ['failed', 'See what was asked for with "upshot approvals show <id>".'],
  needs_confirmation: ['needsConfirmation', 'Add --yes to do it.'],
  run_ended: ['failed', 'See the run and its steps with "upshot runs show <id>".'],
  run_timeout: ['failed', 'See the run and its steps with "upshot runs show <id>".'],
  undeclared_effect: ['failed', 'Put what the code does outside into a step that declares it, with `effect`.'],
  not_running: ['temporary', 'Start the app with "npm start" in another terminal, then run this again.'],
  internal: ['failed', REPORT],
}

/** Describes any thrown value; null if the command only printed its help or version. */
export function describeProblem(error: unknown): Problem | null {
  if (error instanceof CommanderError) return describeUsage(error)
  if (error instanceof UpshotError) {
    const { fix, retryAt } = error.details
    const own = {
      ...(typeof fix === 'string' && { fix }),
      ...(typeof retryAt === 'number' && { retryAt: isoTime(retryAt) }),
    }
    return { ...toProblem(error.code, error, CODES[error.code]), ...own }
  }
  if (error instanceof Error && /^Abort(ed)?Error$/.test(error.name)) {
    return toProblem('aborted', error, ['interrupted', 'Run it again.'])
  }
  if (error instanceof Error && isFaultOfPath(error)) {
    return toProblem('invalid_request', error, ['usage', 'Correct the path, or let this user read and write it.'])
  }
  return toProblem('internal', error instanceof Error ? error : new Error(String(error)), CODES.internal)
}

/** Codes of a path that a person names: it may be of another kind, or belong to another user. */
const PATH_FAULT = /^E(ACCES|EXIST|ISDIR|LOOP|NAMETOOLONG|NOENT|NOTDIR|NOTEMPTY|PERM|ROFS)$/

function isFaultOfPath(error: NodeJS.ErrnoException): boolean {
  const { code = '', syscall, path } = error
  return syscall !== undefined && path !== undefined && !syscall.startsWith('spawn') && PATH_FAULT.test(code)
}

function toProblem(code: string, error: Error, [exit, fix]: Meaning): Problem {
  const message = redactUrls(error.message)
  return { code, message, fix: readAdvice(message, fix), exit: EXIT[exit] }
}

/** Where a message of one line goes on after its first sentence, it says itself what to do. */
function readAdvice(message: string, fix: string): string {
  const [, own] = /^\S.*?[^.]\. ([A-Z].*)$/.exec(message) ?? []
  return own !== undefined && (fix === SEE_HELP || fix === CORRECT) ? own : fix
}

/** Commander puts a line break between a message and a suggestion. */
function describeUsage({ exitCode, code, message }: CommanderError): Problem | null {
  if (exitCode === 0) return null
  const exit = EXIT.usage
  if (code === 'commander.help') {
    return {
      code: 'usage',
      message: 'The command is incomplete: it is a group of commands.',
      fix: 'Add one of the commands listed by --help.',
      exit,
    }
  }
  const [what = '', suggestion] = message.replace(/^error: /, '').split('\n')
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)}`.replace(/(?<![.!?])$/, '.')
  return { code: 'usage', message: sentence, fix: suggestion?.replace(/^\((.*)\)$/, '$1') ?? SEE_HELP, exit }
}
