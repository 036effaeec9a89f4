import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { type Command, Option } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import { readVersion } from '../../../project/read-version.ts'
import type { Cli } from '../../command.ts'
import { canAsk } from '../../terminal/confirm.ts'
import type { Output } from '../../terminal/output.ts'
import {
  findUpshotSource,
  type ProjectFile,
  planProject,
  TEMPLATES,
  type TemplateName,
  type UpshotSource,
} from './project-files.ts'

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
  throw new UpshotError('conflict', message, { fix: 'Name an empty folder, or move these files away.' })
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
