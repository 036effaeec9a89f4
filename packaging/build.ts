import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bundle } from './bundle.ts'

const ROOT = resolve(import.meta.dirname, '..')
const DIST = join(ROOT, 'dist')

/** Makes the package in `dist`: bundled code with maps, types of the doors, the dashboard. */
async function build(): Promise<void> {
  rmSync(DIST, { recursive: true, force: true })
  await bundle(DIST)
  writeTypes()
  nameDeclarations()
  buildDashboard()
}

function writeTypes(): void {
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  execFileSync(process.execPath, [tsc, '-p', import.meta.dirname], { stdio: 'inherit' })
}

/**
 * Renames `.ts` in the imports of declarations, which the compiler leaves alone. The new ending has
 * the same length, so the maps stay valid.
 */
function nameDeclarations(): void {
  for (const file of filesIn(DIST).filter((name) => name.endsWith('.d.ts'))) {
    const path = join(DIST, file)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace(/((?:from |import\()(['"])\.{1,2}\/[^'"]+)\.ts\2/g, '$1.js$2'))
  }
}

function buildDashboard(): void {
  const vite = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js')
  const config = join(ROOT, 'src', 'dashboard', 'vite.config.ts')
  execFileSync(process.execPath, [vite, 'build', '--config', config], { stdio: 'inherit' })
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
}

await build()
