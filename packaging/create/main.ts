import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')
const BIN = 'create-upshot.js'

/** Writes the package behind `npm create upshot`, of the same version, into a folder. */
function writeCreator(folder: string): void {
  const ours = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const { version, license, type, engines, repository } = ours
  mkdirSync(folder, { recursive: true })
  copyFileSync(join(import.meta.dirname, BIN), join(folder, BIN))
  const manifest = {
    name: 'create-upshot',
    version,
    description: 'Makes a project of Upshot: npm create upshot <folder>',
    license,
    type,
    engines,
    repository,
    bin: { 'create-upshot': `./${BIN}` },
    files: [BIN],
    dependencies: { upshot: version },
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

writeCreator(resolve(process.argv[2] ?? 'create-upshot'))
