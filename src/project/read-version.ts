import { readFileSync } from 'node:fs'

/** The version of the package that this file belongs to. */
export function readVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}
