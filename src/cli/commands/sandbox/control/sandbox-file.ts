import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const facts = z.object({ pid: z.int(), startedAt: z.string(), origin: z.url() })

/** The file by which commands find a sandbox that runs without an app. It holds no secret. */
type SandboxFacts = z.infer<typeof facts>

/** Writes the file of a running sandbox. */
export function writeSandboxFile(dir: string, found: SandboxFacts): void {
  const file = fileIn(dir)
  // Renamed into place, so that no reader sees half of it.
  writeFileSync(`${file}.new`, `${JSON.stringify(found, null, 2)}\n`)
  renameSync(`${file}.new`, file)
}

/** The running sandbox, or null. The file survives a crash, so the sandbox may be gone. */
export function readSandboxFile(dir: string): SandboxFacts | null {
  const file = fileIn(dir)
  if (!existsSync(file)) return null
  try {
    return facts.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return null
  }
}

/** Removes the file when the sandbox stops. */
export function removeSandboxFile(dir: string): void {
  rmSync(fileIn(dir), { force: true })
}

function fileIn(dir: string): string {
  return join(dir, 'sandbox.json')
}
