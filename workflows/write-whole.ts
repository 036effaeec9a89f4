import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Writes a file and gives its path back. Readers see all of it or what was there before, even after
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

/** The same for one JSON document. `id` names it: any text, such as an event's id, is safe. */
export function writeJson(folder: string, id: string, document: unknown): Promise<string> {
  return writeWhole(`${folder}/${encodeURIComponent(id)}.json`, `${JSON.stringify(document, null, 2)}\n`)
}
