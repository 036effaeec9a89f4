import { readFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { refuse, UpshotError } from '../../core/errors.ts'
import { processEnvironment } from '../../project/config/environment.ts'

/** The source of a secret: never an option's value, which every process list shows. */
export type SecretSource = {
  secretFile?: string | undefined
  secretStdin?: true | undefined
  /** Name of an environment variable. */
  secretEnv?: string | undefined
}

/** The secret without surrounding white space; undefined if no source is named. */
export async function readSecret(
  { secretFile, secretStdin, secretEnv }: SecretSource,
  what = 'the secret',
): Promise<string | undefined> {
  if (secretFile !== undefined) return readText(secretFile).trim()
  if (secretStdin) return (await readStdin(what)).trim()
  if (secretEnv === undefined) return undefined
  const value = processEnvironment()[secretEnv]
  if (value) return value.trim()
  throw new UpshotError('invalid_request', `The environment variable ${secretEnv} is not set, or empty.`, {
    fix: `Set ${secretEnv} to ${what}, then run the command again.`,
  })
}

/** The text of a file; throws `invalid_request`, which names the file. */
export function readText(file: string): string {
  return decode(readBytes(file))
}

/** Without the mark that Windows puts before a text: it is no JSON. */
function decode(bytes: Buffer): string {
  return new TextDecoder().decode(bytes)
}

/** The bytes of a file; throws like {@link readText}. */
export function readBytes(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    throw new UpshotError('invalid_request', `Cannot read the file ${file} (${why}).`, {
      cause,
      fix: 'Name a file that exists and that this user may read.',
    })
  }
}

/** The piped input. A terminal is refused: it would wait forever, and echo a secret. */
export async function readStdinBytes(what: string): Promise<Buffer> {
  if (!process.stdin.isTTY) return buffer(process.stdin)
  const fix = 'Pipe it in, as in "cat file | upshot …".'
  throw refuse(`Standard input is a terminal, but ${what} must be piped in.`, fix)
}

export async function readStdin(what: string): Promise<string> {
  return decode(await readStdinBytes(what))
}
