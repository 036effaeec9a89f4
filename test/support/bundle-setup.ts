import { renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { makePackage } from '../../packaging/make-package.ts'
import { changedAt } from './changed-at.ts'
import { PACKAGE } from './package-folder.ts'

/**
 * Makes the package for the processes of a long run, which start in two thirds of the processor
 * time. Those of `npm test` run the sources.
 */
export default async function setUpBundle(): Promise<void> {
  if (changedAt(`${PACKAGE}/package.json`) > changedAt('{src,packaging}/**/*', 'package-lock.json')) return
  const folder = join(resolve(import.meta.dirname, '../..'), PACKAGE)
  // Another run of the same sources may be making it.
  const made = `${folder}-${process.pid}`
  await makePackage(made)
  rmSync(folder, { recursive: true, force: true })
  renameSync(made, folder)
}
