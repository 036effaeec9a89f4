import { spawnSync } from 'node:child_process'
import { delimiter, dirname } from 'node:path'

/** The search path without the Node of this repository: the machine's own is often older. */
export const OWN_PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((part) => !part.includes('node_modules') && part !== dirname(process.execPath))
  .join(delimiter)

/** Whether the machine has a Node and an npm of its own. */
export const hasOwnNode = spawnSync('npm', ['--version'], { env: { ...process.env, PATH: OWN_PATH } }).status === 0
