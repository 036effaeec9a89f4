import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePackage } from '../../packaging/make-package.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The code that a process runs, and the samples that find `upshot` in the same place. */
export interface Program {
  /** Ends with a slash; `app/main.js` and `cli/main.js` are below it. */
  code: string
  workflows: string
}

/** The sources, which `npm start` and `npm run upshot` of a clone run. */
export const CLONE: Program = { code: join(ROOT, 'src/'), workflows: join(ROOT, 'workflows') }

/** Makes the package, and puts it into a folder as npm installs it. */
export async function buildPackage(folder: string): Promise<Program> {
  const installed = join(folder, 'node_modules/upshot')
  await makePackage(installed)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  for (const each of ['workflows', 'config']) cpSync(join(ROOT, each), join(folder, each), { recursive: true })
  return { code: join(installed, 'dist/'), workflows: join(folder, 'workflows') }
}
