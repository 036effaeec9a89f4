import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/*
 * `prepack` replaces our manifest, whose entry points are source, and `postpack` restores it. The
 * next pack repairs an interrupted one. See decision 32.
 */
const ROOT = resolve(import.meta.dirname, '..')
const MANIFEST = join(ROOT, 'package.json')
const OURS = join(ROOT, 'package.json.ours')

interface Manifest {
  exports: Record<string, string>
  bin: Record<string, string>
  [field: string]: unknown
}

/** Fields that only the repository needs. */
const LEFT_OUT = ['devDependencies', 'optionalDependencies', 'scripts', 'allowScripts']

/** The manifest with compiled entry points. */
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
