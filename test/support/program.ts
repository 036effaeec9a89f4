import { join, resolve } from 'node:path'
import { inject } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const isBundled = inject('isLongRun') === true
/** Of the code that processes of tests run; a long run makes a package: see bundle-setup.ts. */
const FOLDER = join(ROOT, isBundled ? 'node_modules/.cache/package/dist' : 'src')

/** The programs of `npm start` and of `npm run upshot`. */
export const APP = join(FOLDER, 'app/main.js')
export const CLI = join(FOLDER, 'cli/main.js')

/** Modules for such a process import this in the place of `upshot`. */
export const DOOR = join(FOLDER, isBundled ? 'author/index.js' : 'author/index.ts')
