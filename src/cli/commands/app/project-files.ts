import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { readVersion } from '../../../project/read-version.ts'

/** The templates of `upshot init`, with their purpose. */
export const TEMPLATES = {
  minimal: 'one workflow, which records each new file',
  cleanup: 'deletes the source of a transfer once its copy is verified',
  mirror: 'keeps a copy of a storage on this machine, with an inventory',
} as const
export type TemplateName = keyof typeof TEMPLATES

/** A file of a new project. */
export interface ProjectFile {
  /** Relative to the project's folder, with `/`. */
  path: string
  content: string
}

const FOLDER = resolve(import.meta.dirname, '../../../../templates')

/**
 * The files of a new project in `dir`: the shared ones and the template's, by path. `source`: what
 * its package.json names; null: the registry.
 */
export function planProject(template: TemplateName, dir: string, source: UpshotSource | null = null): ProjectFile[] {
  const files = new Map<string, string>()
  for (const folder of ['shared', template]) {
    for (const [path, text] of readFolder(join(FOLDER, folder))) {
      // Variables of the template are appended; its other files replace shared ones.
      files.set(path, path === '.env.example' ? (files.get(path) ?? '') + text : text)
    }
  }
  const manifest = JSON.parse(files.get('package.json') ?? '{}')
  files.set('package.json', `${JSON.stringify(fillManifest(manifest, dir, source), null, 2)}\n`)
  return [...files].map(([path, content]) => ({ path, content })).sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Names of template files that npm would treat specially in a package: they begin with `_`. */
const NAMES: Record<string, string> = {
  '_package.json': 'package.json',
  '_tsconfig.json': 'tsconfig.json',
  _gitignore: '.gitignore',
  _dockerignore: '.dockerignore',
  _npmrc: '.npmrc',
  '_env.example': '.env.example',
}

function readFolder(folder: string): [path: string, text: string][] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = join(entry.parentPath, entry.name)
      const path = file.slice(folder.length + 1).replaceAll('\\', '/')
      return [NAMES[path] ?? path, readFileSync(file, 'utf8')]
    })
}

function fillManifest(
  manifest: Record<string, unknown>,
  dir: string,
  source: UpshotSource | null,
): Record<string, unknown> {
  const upshot = source === null ? `^${readVersion()}` : `file:${source.path}`
  const dependencies = { ...(manifest.dependencies as object), upshot }
  return { ...manifest, name: packageName(dir), dependencies }
}

/** A valid npm package name, made from the folder's name. */
export function packageName(dir: string): string {
  const name = basename(resolve(dir))
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 100)
  // A package named "upshot" could not depend on "upshot".
  return name === '' || name === 'upshot' ? 'my-automations' : name
}

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
