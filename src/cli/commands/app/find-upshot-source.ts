import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** Where a new project gets Upshot from; null: the registry. */
export interface UpshotSource {
  kind: 'clone' | 'tarball'
  /** Absolute path of the folder or of the tarball. */
  path: string
}

/**
 * Where the package in `folder` came from: it is a clone, or npm noted the tarball beside it. Null
 * for a package of the registry, and where the tarball is gone.
 */
export function findUpshotSource(folder: string, isClone: boolean): UpshotSource | null {
  if (isClone) return { kind: 'clone', path: folder }
  const modules = dirname(folder)
  const [, file] = /^file:(.+\.tgz)$/.exec(readResolved(join(modules, '.package-lock.json'))) ?? []
  if (file === undefined) return null
  const path = resolve(modules, '..', decodeURI(file))
  return existsSync(path) ? { kind: 'tarball', path } : null
}

/** The `resolved` of Upshot in npm's record of a `node_modules`; empty where there is none. */
function readResolved(record: string): string {
  if (!existsSync(record)) return ''
  const { packages } = JSON.parse(readFileSync(record, 'utf8'))
  return String(packages?.['node_modules/upshot']?.resolved ?? '')
}
