import { basename, dirname, join } from 'node:path'
import { UpshotError } from '../../core/errors.ts'
import { statOrNull } from './fingerprint.ts'

/**
 * Names that programs use while they write, and hidden ones: no entry of the storage until they are
 * renamed.
 */
const PASSING_NAME = /^\.|^~\$|~$|\.(tmp|temp|part|partial|crdownload|download|swp|swx)$/i

export function isPassingName(name: string): boolean {
  return PASSING_NAME.test(name)
}

/** Whether a path or one of the folders above it has a name that is left out. */
export function isPassingPath(path: string): boolean {
  return path.split('/').some((part) => part !== '' && isPassingName(part))
}

/**
 * `/a/b` of `a/b/`, `//a/./b` and the like; the root is `/`. Throws `invalid_request` on anything
 * that could leave the storage.
 */
export function normalizePath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
  if (parts.includes('..') || /[\u0000-\u001f\\]/.test(path))
    throw new UpshotError('invalid_request', 'A path holds no "..", no backslash and no control characters.')
  return `/${parts.join('/')}`
}

export function parentOf(path: string): string {
  return dirname(path)
}

export function nameOf(path: string): string {
  return basename(path)
}

/** Where an entry lies on this machine. */
export function diskPath(root: string, path: string): string {
  return join(root, path)
}

/**
 * Throws `invalid_request` when a folder on the way to `path` is a link: following it could leave
 * the storage.
 */
export function refuseLinks(root: string, path: string): void {
  const parts = path.split('/').filter((part) => part !== '')
  let walked = root
  for (const part of parts) {
    walked = join(walked, part)
    const stat = statOrNull(walked)
    if (!stat) return
    if (stat.isSymbolicLink())
      throw new UpshotError('invalid_request', `${path} leads through a link. Links are not followed in a storage.`)
  }
}
