import { readFileSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

/*
 * Plain JavaScript, as the entry files are: an old Node reads no types. A current one loads no type
 * stripper once its cache is full. See decision 67.
 */

/** Oldest Node that runs the sources and their TypeScript. */
const MIN_MAJOR = 24

/** Fewest open files that a process needs: an app at rest has 50, and deliveries need more. */
const MIN_FILES = 96

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
 * The files and connections that this process may have open at once; null where the system does not
 * say. Node has raised its soft limit to the hard one.
 * @returns {number | null}
 */
export function readFileLimit() {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return limit === undefined ? null : Number(limit)
  } catch {
    return null
  }
}

/** @returns {string | null} */
function describeFewFiles() {
  const limit = readFileLimit() ?? MIN_FILES
  if (limit >= MIN_FILES) return null
  const fix = 'Raise the limit with "ulimit -n 4096", or where your supervisor sets it.'
  return `This process may have ${limit} files open at once, and upshot needs ${MIN_FILES} or more. ${fix}`
}

/**
 * Refuses an old Node, and too few open files: it gives false. Keeps compiled code in the user's
 * own cache, which halves a command's start. Others could plant code in a shared folder.
 * @returns {boolean}
 */
export function setUpProcess() {
  const fault = describeOldNode(process.versions.node) ?? describeFewFiles()
  if (fault !== null) {
    process.stderr.write(`${fault}\n`)
    process.exitCode = 1
    return false
  }
  const folder = findCacheFolder()
  if (folder === null) return true
  // Where the folder cannot be written, Node compiles each time, and says nothing.
  module.enableCompileCache(folder)
  // Threads and child processes have a cache only by this variable.
  process.env.NODE_COMPILE_CACHE ??= folder
  return true
}

/**
 * Null where `HOME` is not set and the system does not list the user, as in some containers.
 * @returns {string | null}
 */
function findCacheFolder() {
  try {
    return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'upshot')
  } catch {
    return null
  }
}
