import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Writes a file and returns its path. Readers see either the old content or the new one, even after
 * a power cut.
 */
export async function writeWhole(path: string, text: string): Promise<string> {
  const draft = `${path}.${randomUUID()}.tmp`
  await mkdir(dirname(path), { recursive: true })
  try {
    await writeFile(draft, text, { flush: true })
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
  return path
}

/** Writes a JSON document named by `id`, which may be any text. */
export function writeJson(folder: string, id: string, document: unknown): Promise<string> {
  return writeWhole(`${folder}/${encodeURIComponent(id)}.json`, `${JSON.stringify(document, null, 2)}\n`)
}
