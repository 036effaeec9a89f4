import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

/** Variables by name; an empty one counts as not set. */
export type Environment = Record<string, string | undefined>

/**
 * Takes the variables of the project's `.env` into this process where they are not set; gives the
 * names of those it took.
 */
export function adoptEnvFile(root: string): ReadonlySet<string> {
  const path = join(root, '.env')
  if (!existsSync(path)) return new Set()
  const found = Object.entries(parseEnv(readFileSync(path, 'utf8'))).filter(([name]) => process.env[name] === undefined)
  for (const [name, value] of found) if (value !== undefined) process.env[name] = value
  return new Set(found.map(([name]) => name))
}

/** This process's environment; the only place that reads it. */
export function processEnvironment(): Environment {
  return process.env
}
