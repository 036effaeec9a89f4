import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/**
 * Within the repository the package is its source, which Node runs as it is. Under `node_modules`
 * Node strips no types, and npm has no setting that gives a published package other entry points.
 * So `prepack` puts the published manifest in the place of ours, `postpack` puts ours back, and an
 * interrupted pack is mended by the next one.
 */
const ROOT = resolve(import.meta.dirname, '..')
const MANIFEST = join(ROOT, 'package.json')
const OURS = join(ROOT, 'package.json.ours')

interface Manifest {
  exports: Record<string, string>
  bin: Record<string, string>
  [field: string]: unknown
}

/** What only work on the repository needs. */
const LEFT_OUT = ['devDependencies', 'scripts', 'allowScripts']

/** The manifest of the package: the same, with every entry point compiled. */
export function publishedManifest(ours: Manifest): Record<string, unknown> {
  const kept = Object.entries(ours).filter(([field]) => !LEFT_OUT.includes(field))
  return {
    ...Object.fromEntries(kept),
    exports: {
      ...mapValues(ours.exports, (source) => ({
        types: compiled(source, '.d.ts'),
        default: compiled(source, '.js'),
      })),
      './package.json': './package.json',
    },
    bin: mapValues(ours.bin, (source) => compiled(source, '.js')),
  }
}

function compiled(source: string, ending: string): string {
  return source.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, ending)
}

function mapValues<T, U>(record: Record<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}

function restore(): void {
  if (existsSync(OURS)) renameSync(OURS, MANIFEST)
}

function replace(): void {
  restore()
  const text = readFileSync(MANIFEST, 'utf8')
  writeFileSync(OURS, text)
  try {
    writeFileSync(MANIFEST, `${JSON.stringify(publishedManifest(JSON.parse(text)), null, 2)}\n`)
  } catch (error) {
    rmSync(MANIFEST, { force: true })
    restore()
    throw error
  }
}

if (import.meta.main) {
  if (process.argv[2] === 'restore') restore()
  else replace()
}
