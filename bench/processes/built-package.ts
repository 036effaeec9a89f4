import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publishedManifest } from '../../packaging/manifest.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The code that a process runs, and the samples that find `upshot` in the same place. */
export interface Program {
  /** Ends with a slash; `app/main.js` and `cli/main.js` are below it. */
  code: string
  workflows: string
}

/** The sources, which `npm start` and `npm run upshot` of a clone run. */
export const CLONE: Program = { code: join(ROOT, 'src/'), workflows: join(ROOT, 'workflows') }

/** Builds the package, and puts it into a folder as npm installs it. */
export function buildPackage(folder: string): Program {
  execFileSync(process.execPath, [join(ROOT, 'packaging/build.ts')], { stdio: ['ignore', 'ignore', 'inherit'] })
  const installed = join(folder, 'node_modules/upshot')
  mkdirSync(installed, { recursive: true })
  const manifest = publishedManifest(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')))
  writeFileSync(join(installed, 'package.json'), JSON.stringify(manifest))
  symlinkSync(join(ROOT, 'dist'), join(installed, 'dist'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  for (const each of ['workflows', 'config']) cpSync(join(ROOT, each), join(folder, each), { recursive: true })
  return { code: join(installed, 'dist/'), workflows: join(folder, 'workflows') }
}
