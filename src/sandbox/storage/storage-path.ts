import { join } from 'node:path'
import { UpshotError } from '../../core/errors.ts'
import { statOrNull } from './fingerprint.ts'

/**
 * Hidden names, and names of files still being written. They are no entries until they are renamed.
 */
const IGNORED_NAME = /^\.|^~\$|~$|\.(tmp|temp|part|partial|crdownload|download|swp|swx)$/i

export function isIgnoredName(name: string): boolean {
  return IGNORED_NAME.test(name)
}

/** Whether the path, or a folder above it, has such a name. */
export function isIgnoredPath(path: string): boolean {
  return path.split('/').some((part) => part !== '' && isIgnoredName(part))
}

/**
 * The absolute path without empty and `.` parts; `/` for the root. Throws `invalid_request` for
 * paths that could leave the storage.
 */
export function normalizePath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
  if (parts.includes('..') || /[\u0000-\u001f\\]/.test(path))
    throw new UpshotError('invalid_request', 'A path must not contain "..", a backslash or a control character.')
  return `/${parts.join('/')}`
}

/** Throws `invalid_request` if a part of the path is a link, which could leave the storage. */
export function refuseLinks(root: string, path: string): void {
  const parts = path.split('/').filter((part) => part !== '')
  let walked = root
  for (const part of parts) {
    walked = join(walked, part)
    const stat = statOrNull(walked)
    if (!stat) return
    if (stat.isSymbolicLink())
      throw new UpshotError('invalid_request', `${path} leads through a link. A storage does not follow links.`)
  }
}
