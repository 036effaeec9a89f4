import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

/*
 * Plain JavaScript, as the entry files are: an old Node reads no types. A current one loads no type
 * stripper once its cache is full. See decision 67.
 */

/** Oldest Node that runs the sources and their TypeScript. */
const MIN_MAJOR = 24

/**
 * One line for a Node that is too old; null for one that is not. It runs on any Node.
 * @param {string} version
 * @returns {string | null}
 */
export function describeOldNode(version) {
  if (Number(version.split('.')[0]) >= MIN_MAJOR) return null
  const fix = 'Install it from https://nodejs.org, use "npx upshot" in a project, or "npx -p node@24 upshot".'
  return `upshot needs Node ${MIN_MAJOR} or newer, and this is ${version}. ${fix}`
}

/**
 * Refuses an old Node, which gives false, and keeps compiled code in the user's own cache. That
 * halves a command's start; in the shared folder for temporary files, others could plant code.
 * @returns {boolean}
 */
export function setUpProcess() {
  const fault = describeOldNode(process.versions.node)
  if (fault !== null) {
    process.stderr.write(`${fault}\n`)
    process.exitCode = 1
    return false
  }
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  // Where the folder cannot be written, Node compiles each time, and says nothing.
  const folder = join(cache, 'upshot')
  module.enableCompileCache(folder)
  // Threads and child processes have a cache only by this variable.
  process.env.NODE_COMPILE_CACHE ??= folder
  return true
}
