import { join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'vite'
import { PACKAGE } from './package-folder.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** A module's own place, where it starts a thread or a process from a file beside it. */
const PLACE = /(?<=main\.js', )import\.meta\.url|import\.meta\.url(?=\.replace\(|, ')/g

/**
 * Lets the code under test start its threads and processes from the package of a long run. An
 * isolated process then takes a third of the processor time that its sources take.
 */
export const startPackaged: Plugin = {
  name: 'start-packaged',
  enforce: 'pre',
  transform: {
    filter: { id: new RegExp(`^${ROOT}/src/.*\\.ts$`), code: PLACE },
    handler(code, id) {
      const file = join(ROOT, PACKAGE, 'dist', relative(join(ROOT, 'src'), id).replace(/\.ts$/, '.js'))
      return { code: code.replaceAll(PLACE, () => `'${pathToFileURL(file)}'`), map: null }
    },
  },
}
