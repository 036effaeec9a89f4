import { type ChildProcess, fork } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { WorkDone } from '../../../admin/contract/route.ts'
import type { DoctorFinding, Foreseen } from '../../../admin/ports/surroundings.ts'
import { UpshotError } from '../../../core/errors.ts'
import { processEnvironment, TELLS_PARENT } from '../../../project/config/environment.ts'
import type { Config } from '../../../project/config/load-config.ts'

/** The command line beside this program. */
const CLI = fileURLToPath(new URL('../../../cli/main.js', import.meta.url))

/** The document of a command with `--json`, or the error that left none. */
interface CommandEnd {
  /** Undefined where the command printed no document. */
  document: { data?: unknown; error?: { code: string; message: string; fix: string } } | undefined
  /** Null for exit code 0. */
  error: Error | null
}

interface Bounds {
  signal: AbortSignal
  withinMs: number
  mostBytes: number
  /** It gives way to live work, and so do the processes that it starts. Default false. */
  isAside?: boolean
  /** Standard input. Default: empty. */
  input?: string
  /** Hears how far the command is. */
  tell?: (work: WorkDone) => void
}

/**
 * Runs `upshot` on this project in a process of its own, so that it holds up nothing here. The
 * process ends with the signal, after the time, and beyond the bytes of output.
 */
export function runCommand(
  { dataDir, workflowsDir, service }: Pick<Config, 'dataDir' | 'workflowsDir' | 'service'>,
  args: readonly string[],
  { signal, withinMs, mostBytes, isAside = false, input = '', tell }: Bounds,
): Promise<CommandEnd> {
  const env = {
    ...processEnvironment(),
    ...(service.kind === 'sandbox' ? withoutService() : {}),
    ...{ UPSHOT_DATA_DIR: dataDir, UPSHOT_WORKFLOWS_DIR: workflowsDir },
    // The command must not ask a server, least of all this one, which would run it again.
    UPSHOT_SERVER: '',
    ...(tell && { [TELLS_PARENT]: '1' }),
  }
  const child = fork(CLI, [...args, '--json'], { env, signal, timeout: withinMs, silent: true, execArgv: [] })
  if (isAside && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  child.on('message', (work) => tell?.(work as WorkDone))
  child.stdin?.end(input)
  child.stderr?.resume()
  return readEnd(child, mostBytes)
}

async function readEnd(child: ChildProcess, mostBytes: number): Promise<CommandEnd> {
  let bytes = 0
  child.stdout?.on('data', ({ byteLength }: Buffer) => {
    bytes += byteLength
    if (bytes > mostBytes) child.kill()
  })
  const ended = new Promise<Error | null>((resolve) => {
    child.once('error', resolve)
    child.once('close', (code, signal) => resolve(code === 0 ? null : new Error(`It ended with ${code ?? signal}.`)))
  })
  const [printed, error] = await Promise.all([child.stdout ? text(child.stdout) : '', ended])
  return { document: bytes > mostBytes ? undefined : readDocument(printed), error }
}

/** An app with the sandbox leaves the variables of the service alone; so does its command. */
function withoutService(): Record<string, string> {
  const names = Object.keys(processEnvironment()).filter((name) => name.startsWith('SERVICE_'))
  return Object.fromEntries(names.map((name) => [name, '']))
}

function readDocument(text: string): CommandEnd['document'] {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The findings of `upshot doctor` about this project. A check that hangs holds up nothing here.
 * Throws `internal` after a minute.
 */
export async function runDoctor(
  config: Parameters<typeof runCommand>[0],
  signal: AbortSignal,
): Promise<DoctorFinding[]> {
  // It exits with 7 where a check fails, which is an answer.
  const { document, error } = await runCommand(config, ['doctor'], { withinMs: 60_000, mostBytes: 1_000_000, signal })
  const { findings } = (document?.data ?? {}) as { findings?: DoctorFinding[] }
  if (findings !== undefined) return findings
  throw new UpshotError('internal', 'The doctor did not finish.', {
    cause: error,
    details: { fix: 'Run "upshot doctor" in the folder of the project: it shows how far it comes.' },
  })
}

/**
 * The effects that held runs would ask for after the list of their approval. Code is previewed in
 * the process of the command, so no thread of the app waits. Throws `internal` where it has no
 * answer within two minutes, with the message of the command.
 */
export async function foreseeApproval(
  config: Parameters<typeof runCommand>[0],
  approval: string,
  signal: AbortSignal,
): Promise<Foreseen> {
  const args = ['approvals', 'show', approval, '--ahead']
  const { document, error } = await runCommand(config, args, { withinMs: 120_000, mostBytes: 134_217_728, signal })
  const { foreseen } = (document?.data ?? {}) as { foreseen?: Foreseen }
  if (foreseen !== undefined) return foreseen
  const { message = 'The look ahead did not finish.' } = document?.error ?? {}
  throw new UpshotError('internal', message, {
    cause: error,
    details: { fix: document?.error?.fix ?? `Run "upshot ${args.join(' ')}" in the folder of the project.` },
  })
}
