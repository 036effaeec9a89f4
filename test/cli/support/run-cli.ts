import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { CHILD_ENVIRONMENT } from '../../support/child-environment.ts'
import { CLI } from '../../support/program.ts'
import { startGroup } from '../../support/start-group.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** The result of one command. */
export interface CliResult {
  exit: number | null
  stdout: string
  stderr: string
  /** The document on stdout; undefined if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: the documents are what the tests look into
  json: any
}

interface CliOptions {
  /** Standard input. Default empty. */
  input?: string
  /** Further environment variables. */
  env?: Record<string, string>
  /** Sends Ctrl-C when it resolves. */
  interruptAt?: Promise<unknown>
  /** Closes the pipe of its output, at once or after the first part of it. Default: never. */
  closes?: 'at once' | 'after a part'
}

/** Runs `upshot` in its own process, with this data directory and none of our environment. */
export async function runCli(
  dataDir: string,
  args: readonly string[],
  { input = '', env = {}, interruptAt, closes }: CliOptions = {},
): Promise<CliResult> {
  const child = startGroup(process.execPath, [CLI, ...args], {
    cwd: ROOT,
    env: { ...CHILD_ENVIRONMENT, TZ: 'UTC', UPSHOT_DATA_DIR: dataDir, UPSHOT_PORT: '0', ...env },
  })
  child.stdin.end(input)
  interruptAt?.then(() => child.kill('SIGINT'))
  if (closes === 'at once') child.stdout.destroy()
  if (closes === 'after a part') child.stdout.once('data', () => child.stdout.destroy())
  const exited = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('exit', resolve))
  const [stdout, stderr, exit] = await Promise.all([text(child.stdout).catch(() => ''), text(child.stderr), exited])
  return { exit, stdout, stderr, json: parseDocument(stdout) }
}

/** The JSON document on stdout; undefined if it is not one. */
export function parseDocument(stdout: string): unknown {
  try {
    return JSON.parse(stdout)
  } catch {
    return undefined
  }
}
