import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const facts = z.object({ pid: z.int(), startedAt: z.string(), origin: z.url() })

/** Where a sandbox that runs on its own is found by the command line. Holds nothing secret. */
export type SandboxFacts = z.infer<typeof facts>

export function writeSandboxFile(dir: string, found: SandboxFacts): void {
  const file = fileIn(dir)
  // Renamed into place, so that nobody reads half of it.
  writeFileSync(`${file}.new`, `${JSON.stringify(found, null, 2)}\n`)
  renameSync(`${file}.new`, file)
}

/**
 * Null where none has started, or it has stopped. After a crash it is still there: ask before you
 * believe it.
 */
export function readSandboxFile(dir: string): SandboxFacts | null {
  const file = fileIn(dir)
  if (!existsSync(file)) return null
  try {
    return facts.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return null
  }
}

export function removeSandboxFile(dir: string): void {
  rmSync(fileIn(dir), { force: true })
}

function fileIn(dir: string): string {
  return join(dir, 'sandbox.json')
}
