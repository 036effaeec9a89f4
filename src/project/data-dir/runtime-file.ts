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
  // The rename keeps readers from seeing half a file. Receivers may start at once.
  const own = `${file}.${process.pid}.new`
  writeFileSync(own, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 })
  renameSync(own, file)
}

/**
 * Null where no app has started, or it has stopped. A crash leaves the file behind, so a caller has
 * to ask the app. A power cut may leave a part of it, which counts as none.
 */
export function readRuntimeFile(dataDir: string): Runtime | null {
  if (!hasRuntimeFile(dataDir)) return null
  try {
    return runtime.parse(JSON.parse(readFileSync(runtimeFile(dataDir), 'utf8')))
  } catch {
    return null
  }
}

/** Whether an app started here and did not stop in order: it is running, or it crashed. */
export function hasRuntimeFile(dataDir: string): boolean {
  return existsSync(runtimeFile(dataDir))
}

/** Removes the file; with `ours`, only if these facts are still in it. */
export function removeRuntimeFile(dataDir: string, ours?: Runtime): void {
  if (ours !== undefined && !isDeepStrictEqual(readRuntimeFile(dataDir), ours)) return
  rmSync(runtimeFile(dataDir), { force: true })
}

function runtimeFile(dataDir: string): string {
  return join(dataDir, 'runtime.json')
}
