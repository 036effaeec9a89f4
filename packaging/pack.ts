import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { publishedManifest } from './manifest.ts'

const ROOT = resolve(import.meta.dirname, '..')
const COPY = join(ROOT, 'node_modules/.cache/packed')

/** Packs what is built from a copy, so no pack that fails leaves the published manifest here. */
function pack(options: string[]): void {
  const ours = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const packed: string[] = ours.files.filter((path: string) => !path.startsWith('!'))
  rmSync(COPY, { recursive: true, force: true })
  for (const path of [...packed, 'README.md', 'LICENSE'])
    cpSync(join(ROOT, path), join(COPY, path), { recursive: true })
  writeFileSync(join(COPY, 'package.json'), `${JSON.stringify(publishedManifest(ours), null, 2)}\n`)
  execFileSync('npm', ['pack', COPY, ...options], { cwd: ROOT, stdio: 'inherit' })
}

pack(process.argv.slice(2))
