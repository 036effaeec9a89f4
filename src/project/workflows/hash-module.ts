import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { digest } from '../../author/code-hash.ts'

/** `from './x.ts'`, `import './x.ts'`, `import('./x.ts')`: what the project's own files name. */
const RELATIVE_IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g

/**
 * Tells one state of a module's code from another: a hash of its file and of the files of the
 * project that it imports, however far. Packages are not in it. It says too often rather than too
 * seldom that code has changed; that alone parks no run.
 */
export async function hashModule(file: string): Promise<string> {
  const texts = new Map<string, string>()
  await collect(file, texts)
  return digest([...texts.values()].sort().join('\0'))
}

async function collect(file: string, texts: Map<string, string>): Promise<void> {
  if (texts.has(file)) return
  const text = await readFile(file, 'utf8').catch(() => '')
  texts.set(file, text)
  for (const [, name = ''] of text.matchAll(RELATIVE_IMPORT)) await collect(resolve(dirname(file), name), texts)
}
