import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { type Command, Option } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import { readVersion } from '../../../project/read-version.ts'
import type { Cli } from '../../command.ts'
import { canAsk } from '../../terminal/confirm.ts'
import type { Output } from '../../terminal/output.ts'

/** The templates of `upshot init`, with their purpose. */
export const TEMPLATES = {
  minimal: 'one workflow, which records each new file',
  cleanup: 'deletes the source of a transfer once its copy is verified',
  mirror: 'keeps a copy of a storage on this machine, with an inventory',
} as const
export type TemplateName = keyof typeof TEMPLATES

interface ProjectFile {
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
const SPECIAL: Record<string, string> = {
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
      return [SPECIAL[path] ?? path, readFileSync(file, 'utf8')]
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
interface UpshotSource {
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

const NAMES = Object.keys(TEMPLATES) as TemplateName[]

export function define(command: Command, { out }: Cli): void {
  command
    .argument('[dir]', 'folder of the project, created if missing (default: the current one)')
    .addOption(new Option('--template <name>', 'template to start from (default: minimal)').choices(NAMES))
    .addHelpText('after', ['', ...NAMES.map((name) => `  ${name.padEnd(9)} ${TEMPLATES[name]}`)].join('\n'))
    .action(async (dir, { template }) => {
      const wanted = await askMissing({ dir, template }, out)
      const root = resolve(wanted.dir)
      const source = findUpshotSource(PACKAGE, IS_CLONE)
      const files = planProject(wanted.template, root, source)
      refuseConflicts(root, files)
      if (!out.given.dryRun) for (const file of files) write(root, file)
      report(out, { root, template: wanted.template, files, source })
    })
}

const PACKAGE = resolve(import.meta.dirname, '../../../..')
const IS_CLONE = import.meta.url.endsWith('.ts')

interface Choices {
  dir: string
  template: TemplateName
}

/** Asks for missing values at a terminal; elsewhere uses the defaults. */
async function askMissing(
  given: { [Name in keyof Choices]: Choices[Name] | undefined },
  out: Output,
): Promise<Choices> {
  const isAsking = canAsk(out) && !out.given.yes
  if (!isAsking || (given.dir !== undefined && given.template !== undefined)) {
    return { dir: given.dir ?? '.', template: given.template ?? 'minimal' }
  }
  const { isCancel, select, text } = await import('@clack/prompts')
  const streams = { input: out.streams.stdin as Readable, output: out.streams.stderr as Writable }
  const dir = given.dir ?? (await text({ message: 'Which folder?', initialValue: 'my-automations', ...streams }))
  if (isCancel(dir)) throw leave()
  const options = NAMES.map((value) => ({ value, label: value, hint: TEMPLATES[value] }))
  const template = given.template ?? (await select({ message: 'Which template?', options, ...streams }))
  if (isCancel(template)) throw leave()
  return { dir, template }
}

function leave(): DOMException {
  return new DOMException('Nothing was written.', 'AbortError')
}

function refuseConflicts(root: string, files: readonly ProjectFile[]): void {
  const taken = files.filter(({ path }) => existsSync(join(root, path))).map(({ path }) => path)
  if (taken.length === 0) return
  const message = `These files already exist in ${root}: ${taken.join(', ')}. Nothing was written.`
  throw new UpshotError('conflict', message, { fix: 'Name a new folder, such as "upshot init my-automations".' })
}

function write(root: string, { path, content }: ProjectFile): void {
  const target = join(root, path)
  mkdirSync(dirname(target), { recursive: true })
  // "wx" also refuses a file that was created since the check.
  writeFileSync(target, content, { flag: 'wx' })
}

interface Made {
  root: string
  template: TemplateName
  files: readonly ProjectFile[]
  source: UpshotSource | null
}

function report(out: Output, { root, template, files, source }: Made): void {
  const paths = files.map(({ path }) => path)
  const place = relative(process.cwd(), root)
  const next = [...(place === '' ? [] : [`cd ${quote(place)}`]), 'npm install', 'npm test', 'npm run dev']
  const data = { dir: root, template, files: paths, next, upshot: source?.path ?? null, made: !out.given.dryRun }
  out.result(data, () => [
    `${out.given.dryRun ? 'Would write' : 'Wrote'} ${paths.length} files in ${root}:`,
    ...paths.map((path) => `  ${path}`),
  ])
  if (out.given.dryRun) return
  out.note(`Next:\n${next.map((line) => `  ${line}`).join('\n')}`)
  out.note(describeSource(source))
}

/** Nothing is published yet, so only a clone or a tarball can be installed. */
function describeSource(source: UpshotSource | null): string {
  if (source === null) {
    const tarball = `/path/to/upshot-${readVersion()}.tgz`
    return `Upshot is not on the npm registry yet: in place of "npm install", run "npm install ${tarball}".`
  }
  const here = source.kind === 'clone' ? 'this clone' : 'the tarball that this command came in'
  return `Upshot is not on the npm registry yet, so package.json names ${here}: ${source.path}`
}

function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
