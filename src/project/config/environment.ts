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

/** The environment of this process. No other file of a room but `testing` reads it. */
export function processEnvironment(): Environment {
  return process.env
}
