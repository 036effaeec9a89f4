import { readFile } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { digest } from '../../author/read-workflow.ts'

/** Relative specifiers of `from './x.ts'`, `import './x.ts'` and `import('./x.ts')`. */
const RELATIVE_IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g

/**
 * Hash of a module and of the project's files that it imports, directly or not; packages are left
 * out. It may change when behaviour does not, and alone never parks a run. See decision 8.
 */
export async function hashModule(file: string): Promise<string> {
  const texts = await readImports(file)
  // In the order of the imports, each under its name: two files that swap contents are other code.
  const named = [...texts].map(([path, text]) => [relative(dirname(file), path), text])
  return digest(JSON.stringify(named))
}

/** The text of a module and of the project's files that it imports, directly or not, by path. */
export async function readImports(file: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  await collect(file, texts)
  return texts
}

async function collect(file: string, texts: Map<string, string>): Promise<void> {
  if (texts.has(file)) return
  const text = await readFile(file, 'utf8').catch(() => '')
  texts.set(file, text)
  for (const [, name = ''] of text.matchAll(RELATIVE_IMPORT)) await collect(resolve(dirname(file), name), texts)
}
