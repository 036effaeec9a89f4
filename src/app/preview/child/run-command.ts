import { execFile } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { DoctorFinding, Foreseen } from '../../../admin/ports/surroundings.ts'
import { UpshotError } from '../../../core/errors.ts'
import { processEnvironment } from '../../../project/config/environment.ts'
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
}

/**
 * Runs `upshot` on this project in a process of its own, so that it holds up nothing here. The
 * process ends with the signal, after the time, and beyond the bytes of output.
 */
export function runCommand(
  { dataDir, workflowsDir, service }: Pick<Config, 'dataDir' | 'workflowsDir' | 'service'>,
  args: readonly string[],
  { signal, withinMs, mostBytes, isAside = false }: Bounds,
): Promise<CommandEnd> {
  const env = {
    ...processEnvironment(),
    ...(service.kind === 'sandbox' ? withoutService() : {}),
    ...{ UPSHOT_DATA_DIR: dataDir, UPSHOT_WORKFLOWS_DIR: workflowsDir },
    // The command must not ask a server, least of all this one, which would run it again.
    UPSHOT_SERVER: '',
  }
  const options = { env, signal, timeout: withinMs, maxBuffer: mostBytes, encoding: 'utf8' } as const
  return new Promise((resolve) => {
    const { pid } = execFile(process.execPath, [CLI, ...args, '--json'], options, (error, stdout) => {
      resolve({ document: readDocument(stdout), error })
    })
    if (isAside && pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  })
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
  throw new UpshotError('internal', 'The doctor did not come to an end.', {
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
  const { message = 'The look ahead did not come to an end.' } = document?.error ?? {}
  throw new UpshotError('internal', message, {
    cause: error,
    details: { fix: document?.error?.fix ?? `Run "upshot ${args.join(' ')}" in the folder of the project.` },
  })
}
