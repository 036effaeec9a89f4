import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

/** Variables by name. An empty value counts as not set. */
export type Environment = Record<string, string | undefined>

/**
 * Sets the variables of the project's `.env` that this process does not have yet. Returns the names
 * of those that it set.
 */
export function adoptEnvFile(root: string): ReadonlySet<string> {
  const path = join(root, '.env')
  if (!existsSync(path)) return new Set()
  const found = Object.entries(parseEnv(readFileSync(path, 'utf8'))).filter(([name]) => process.env[name] === undefined)
  for (const [name, value] of found) if (value !== undefined) process.env[name] = value
  return new Set(found.map(([name]) => name))
}

/** The variable of a process that tells its parent how far it is. */
export const TELLS_PARENT = 'UPSHOT_TELLS_PARENT'

let hidden: Readonly<Record<string, string>> = {}

/**
 * Takes variables out of `process.env`, so that author code and its child processes do not inherit
 * them. {@link processEnvironment} still has them.
 */
export function hideVariables(names: readonly string[]): void {
  const found: Record<string, string> = { ...hidden }
  for (const name of names) {
    const value = process.env[name]
    if (value !== undefined) found[name] = value
    delete process.env[name]
  }
  hidden = found
}

/** Takes over the variables that the parent has taken out of its own. */
export function adoptHidden(variables: Readonly<Record<string, string>>): void {
  hidden = variables
}

/** The variables that are taken out of `process.env`. */
export function hiddenVariables(): Readonly<Record<string, string>> {
  return hidden
}

/** The environment of this process. No other file of a room but `testing` reads it. */
export function processEnvironment(): Environment {
  return { ...process.env, ...hidden }
}

export function openEnvironment(): Environment {
  return { ...process.env }
}
