import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const runtime = z.object({
  pid: z.int(),
  startedAt: z.string(),
  receiver: z.string(),
  admin: z.string(),
  /** Null where the app works with the real service. */
  sandbox: z.object({ baseUrl: z.string(), origin: z.string(), apiKey: z.string() }).nullable(),
})

/** Where a running app is found by the command line: its addresses, also those that port 0 took. */
export type Runtime = z.infer<typeof runtime>

/** Writes it for the owner of the data directory only: it holds the sandbox's key. */
export function writeRuntimeFile(dataDir: string, facts: Runtime): void {
  const file = runtimeFile(dataDir)
  // Renamed into place, so that nobody reads half of it.
  writeFileSync(`${file}.new`, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/**
 * Null when no app has started here, or it has stopped. After a crash it is still there: ask before
 * you believe it.
 */
export function readRuntimeFile(dataDir: string): Runtime | null {
  const file = runtimeFile(dataDir)
  if (!existsSync(file)) return null
  const parsed = runtime.safeParse(JSON.parse(readFileSync(file, 'utf8')))
  return parsed.success ? parsed.data : null
}

export function removeRuntimeFile(dataDir: string): void {
  rmSync(runtimeFile(dataDir), { force: true })
}

function runtimeFile(dataDir: string): string {
  return join(dataDir, 'runtime.json')
}
