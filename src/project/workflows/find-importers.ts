import { readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { readImports } from './hash-module.ts'
import { listModules } from './load-workflows.ts'

/** Names of packages in `from 'x'`, `import 'x'` and `import('x')`. */
const PACKAGE_IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*['"]((?:@[^'"/]+\/)?[^'"./][^'"/:]*)(?:\/[^'"]*)?['"]/g
/** Where a package is, and its name. */
const IN_PACKAGE = /^(.*?\/node_modules)\/((?:@[^/]+\/)?[^/]+)\//

/**
 * The modules of a folder that import a file, directly or not. One in a package is imported with
 * that, or with a package that depends on it. A module that is the file itself comes alone.
 */
export async function findImporters(folder: string, file: string): Promise<string[]> {
  // Node knows a file by its real path.
  const root = await realpath(folder)
  const modules = await listModules(root)
  const own = modules.filter((module) => join(root, module) === file)
  if (own.length > 0) return own
  const [, packages, name = ''] = IN_PACKAGE.exec(file) ?? []
  const found = await Array.fromAsync(modules, async (module) => {
    const texts = await readImports(join(root, module))
    if (packages === undefined) return texts.has(file) ? [module] : []
    const names = [...texts.values()].flatMap((text) => [...text.matchAll(PACKAGE_IMPORT)].map(([, each = '']) => each))
    return (await listPackages(packages, names)).has(name) ? [module] : []
  })
  return found.flat()
}

/** These packages, and those that they depend on. */
async function listPackages(folder: string, names: readonly string[]): Promise<Set<string>> {
  const all = new Set(names)
  for (const name of all) {
    const read = readFile(join(folder, name, 'package.json'), 'utf8')
    const { dependencies } = await read.then(JSON.parse).catch(() => ({}))
    for (const other of Object.keys(dependencies ?? {})) all.add(other)
  }
  return all
}
