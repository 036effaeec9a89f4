import { writeFile } from 'node:fs/promises'
import { startDownloads } from './download-bench.ts'
import { someBytes, versionBy } from './download-host.ts'

export const MIB = 1024 * 1024
/** Large enough to be hashed in a thread. */
export const BEGINNING = someBytes(9 * MIB)
export const WHOLE = Buffer.concat([BEGINNING, someBytes(11 * MIB).reverse()])
export const LARGE_FILE = {
  service: 'storage_a',
  id: 'a',
  size: WHOLE.length,
  modifiedAt: '2026-01-02T00:00:00.000Z',
} as const
/** A signal that never aborts. */
export const NEVER = new AbortController().signal

/** A download whose first 9 MiB an earlier process left in its part. */
export async function startLargePart() {
  const downloads = await startDownloads({ details: () => ({ size: WHOLE.length }) })
  const to = downloads.path('file')
  await writeFile(`${to}.part`, BEGINNING)
  await writeFile(`${to}.part.json`, JSON.stringify({ ...LARGE_FILE, version: versionBy(downloads.host) }))
  return { ...downloads, to }
}
