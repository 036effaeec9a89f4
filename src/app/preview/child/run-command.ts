import { type ChildProcess, fork } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { WorkDone } from '../../../admin/contract/route.ts'
import { type ErrorCode, UpshotError } from '../../../core/errors.ts'
import { parseJson } from '../../../core/json.ts'
import { processEnvironment, TELLS_PARENT } from '../../../project/config/environment.ts'
import type { Config } from '../../../project/config/load-config.ts'

/** The command line beside this program. */
const CLI = fileURLToPath(new URL('../../../cli/main.js', import.meta.url))

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

/** The document of a command with `--json`. */
interface CommandDocument {
  data?: unknown
  error?: { code: string; message: string; fix: string }
}

/**
 * Runs `upshot` on this project in a process of its own, so that it holds up nothing here. Gives
 * the data of its document, also where it exits with a finding. Throws its error, or `internal`
 * without a document. The signal ends it, and so does too much time or output.
 */
export async function runCommand<Data>(
  config: Pick<Config, 'dataDir' | 'workflowsDir' | 'service' | 'configFile'>,
  args: readonly string[],
  bounds: Bounds,
): Promise<Data> {
  const { printed, error: cause } = await readEnd(begin(config, args, bounds), bounds.mostBytes)
  const { data, error } = (parseJson(printed) ?? {}) as CommandDocument
  if (data !== undefined) return data as Data
  const command = `upshot ${args.join(' ')}`
  const { code, message, fix } = error ?? {
    code: 'internal',
    message: `"${command}" did not come to an end.`,
    fix: `Run "${command}" in the folder of the project: it shows how far it comes.`,
  }
  throw new UpshotError(code as ErrorCode, message, { cause, fix })
}

function begin(
  { dataDir, workflowsDir, service, configFile }: Parameters<typeof runCommand>[0],
  args: readonly string[],
  { signal, withinMs, isAside = false, input = '', tell }: Bounds,
): ChildProcess {
  const env = {
    ...processEnvironment(),
    ...(service.kind === 'sandbox' ? withoutService() : {}),
    UPSHOT_DATA_DIR: dataDir,
    UPSHOT_WORKFLOWS_DIR: workflowsDir,
    // The command must not ask a server, least of all this one, which would run it again.
    UPSHOT_SERVER: '',
    ...(tell && { [TELLS_PARENT]: '1' }),
  }
  const project = configFile === undefined ? [] : ['--config', configFile]
  const child = fork(CLI, [...project, ...args, '--json'], {
    env,
    signal,
    timeout: withinMs,
    silent: true,
    execArgv: [],
  })
  if (isAside && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  child.on('message', (work) => tell?.(work as WorkDone))
  child.stdin?.end(input)
  child.stderr?.resume()
  return child
}

/** `error`: null for exit code 0. */
async function readEnd(child: ChildProcess, mostBytes: number): Promise<{ printed: string; error: Error | null }> {
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
  return { printed: bytes > mostBytes ? '' : printed, error }
}

/** An app with the sandbox leaves the variables of the service alone; so does its command. */
function withoutService(): Record<string, string> {
  const names = Object.keys(processEnvironment()).filter((name) => name.startsWith('SERVICE_'))
  return Object.fromEntries(names.map((name) => [name, '']))
}
