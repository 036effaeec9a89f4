import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bundle } from './bundle.ts'
import { publishedManifest } from './manifest.ts'

const ROOT = resolve(import.meta.dirname, '..')

/** Makes the package in a new folder below ours, without types: as much as its programs need. */
export async function makePackage(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  await bundle(join(folder, 'dist'))
  symlinkSync(join(ROOT, 'dist/dashboard'), join(folder, 'dist/dashboard'))
  for (const each of ['docs', 'style', 'templates']) symlinkSync(join(ROOT, each), join(folder, each))
  const manifest = publishedManifest(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')))
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
}
