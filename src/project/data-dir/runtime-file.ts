import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

const runtime = z.object({
  pid: z.int(),
  startedAt: z.string(),
  receiver: z.string(),
  admin: z.string(),
  /** Null where the app works with the real service. */
  sandbox: z.object({ baseUrl: z.string(), origin: z.string(), apiKey: z.string() }).nullable(),
})

/** Addresses of a running app, for the command line. */
export type Runtime = z.infer<typeof runtime>

/** Only the owner may read the file: it holds the sandbox's API key. */
export function writeRuntimeFile(dataDir: string, facts: Runtime): void {
  const file = runtimeFile(dataDir)
  // The rename keeps readers from seeing half a file.
  writeFileSync(`${file}.new`, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/**
 * Null where no app has started, or it has stopped. A crash leaves the file behind, so a caller has
 * to ask the app.
 */
export function readRuntimeFile(dataDir: string): Runtime | null {
  const file = runtimeFile(dataDir)
  if (!existsSync(file)) return null
  const parsed = runtime.safeParse(JSON.parse(readFileSync(file, 'utf8')))
  return parsed.success ? parsed.data : null
}

/** Removes the file; with `ours`, only if these facts are still in it. */
export function removeRuntimeFile(dataDir: string, ours?: Runtime): void {
  if (ours !== undefined && !isDeepStrictEqual(readRuntimeFile(dataDir), ours)) return
  rmSync(runtimeFile(dataDir), { force: true })
}

function runtimeFile(dataDir: string): string {
  return join(dataDir, 'runtime.json')
}
