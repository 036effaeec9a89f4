import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')
const DIST = join(ROOT, 'dist')

/** Compiles the package into `dist`: code with maps, types of the doors. */
function build(): void {
  rmSync(DIST, { recursive: true, force: true })
  compile('tsconfig.json')
  compile('tsconfig.types.json')
  nameDeclarations()
  copyAssets()
  buildDashboard()
}

function compile(project: string): void {
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  execFileSync(process.execPath, [tsc, '-p', join(import.meta.dirname, project)], { stdio: 'inherit' })
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

/** Copies migrations, and the styles, scripts and pictures of pages: all that was not compiled. */
function copyAssets(): void {
  const assets = filesIn(join(ROOT, 'src')).filter((name) => !name.endsWith('.ts') && !name.startsWith('dashboard/'))
  for (const asset of assets) cpSync(join(ROOT, 'src', asset), join(DIST, asset), { force: false })
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
}

build()
