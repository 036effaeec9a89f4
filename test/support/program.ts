import { basename, join, resolve } from 'node:path'
import { inject } from 'vitest'
import { PACKAGE, PROGRAMS } from './package-folder.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const isBundled = inject('isLongRun') === true

/** For `node_modules/upshot` of a project. A long run makes a package: see bundle-setup.ts. */
export const UPSHOT = isBundled ? join(ROOT, PACKAGE) : ROOT

/** Of the code that processes of tests run. */
const FOLDER = join(UPSHOT, isBundled ? 'dist' : 'src')

/** The programs of `npm start` and of `npm run upshot`. */
export const APP = join(FOLDER, 'app/main.js')
export const CLI = join(FOLDER, 'cli/main.js')

/** Modules for such a process import this in the place of `upshot`. */
export const DOOR = join(FOLDER, isBundled ? 'author/index.js' : 'author/index.ts')

/** Code that blocks its thread like `for (;;) {}`, and leaves the processor to other tests. */
export const BLOCK = 'for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)'

/** The program of a process of tests. `source`: its file; bundle-setup.ts names it. */
export function bundledProgram(source: string): string {
  return isBundled ? join(ROOT, PROGRAMS, `${basename(source, '.ts')}.js`) : source
}
