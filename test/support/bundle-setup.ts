import { globSync, renameSync, rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { isExternal, keepPlaces } from '../../packaging/bundle.ts'
import { makePackage } from '../../packaging/make-package.ts'
import { changedAt } from './changed-at.ts'
import { PACKAGE, PROGRAMS } from './package-folder.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** Of processes that tests kill, each for a place where it dies, and of one that runs commands. */
const SOURCES = 'test/{crash,docs}/**/{doomed-*,siege-worker,annotations-process,command-server}.ts'

/**
 * Makes the package for the processes of a long run, which start in two thirds of the processor
 * time. Bundles the programs that die in tests, too. Processes of `npm test` run the sources.
 */
export default async function setUpBundle(): Promise<void> {
  const sources = ['{src,packaging}/**/*', 'package-lock.json']
  await makeUnlessNew(PACKAGE, 'package.json', sources, makePackage)
  await makeUnlessNew(PROGRAMS, '*', [...sources, 'test/**/*.ts'], bundlePrograms)
}

/** Another run of the same sources may be making it. */
async function makeUnlessNew(
  place: string,
  files: string,
  sources: readonly string[],
  make: (folder: string) => Promise<void>,
): Promise<void> {
  if (changedAt(`${place}/${files}`) > changedAt(...sources)) return
  const folder = join(ROOT, place)
  const made = `${folder}-${process.pid}`
  await make(made)
  rmSync(folder, { recursive: true, force: true })
  renameSync(made, folder)
}

/** They start their threads from the package, in which they are. */
async function bundlePrograms(dir: string): Promise<void> {
  const files = globSync(SOURCES, { cwd: ROOT }).map((file) => join(ROOT, file))
  await using bundled = await rolldown({
    input: Object.fromEntries(files.map((file) => [basename(file, '.ts'), file])),
    platform: 'node',
    external: isExternal,
    plugins: [keepPlaces],
    checks: { ineffectiveDynamicImport: false },
  })
  await bundled.write({ dir, entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js', keepNames: true })
}
