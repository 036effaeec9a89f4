import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { type Command, Option } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import { canAsk } from '../../terminal/confirm.ts'
import type { Output } from '../../terminal/output.ts'
import { type ProjectFile, planProject, TEMPLATES, type TemplateName } from './project-files.ts'

const NAMES = Object.keys(TEMPLATES) as TemplateName[]

/** `upshot init [dir]`: a project that runs, tests and type-checks at once. Overwrites nothing. */
export function define(command: Command, out: Output): void {
  command
    .argument('[dir]', 'folder of the project; made if need be (default: this one)')
    .addOption(new Option('--template <name>', 'what to begin with (default: minimal)').choices(NAMES))
    .addHelpText('after', ['', ...NAMES.map((name) => `  ${name.padEnd(9)} ${TEMPLATES[name]}`)].join('\n'))
    .action(async (dir, { template }) => {
      const wanted = await completeWishes({ dir, template }, out)
      const root = resolve(wanted.dir)
      const files = planProject(wanted.template, root)
      refuseConflicts(root, files)
      if (!out.given.dryRun) for (const file of files) write(root, file)
      report(out, { root, template: wanted.template, files })
    })
}

interface Wishes {
  dir: string
  template: TemplateName
}

/** Asks for what was left out where somebody can answer, and takes the default elsewhere. */
async function completeWishes(
  given: { [Name in keyof Wishes]: Wishes[Name] | undefined },
  out: Output,
): Promise<Wishes> {
  const isAsking = canAsk(out) && !out.given.yes
  if (!isAsking || (given.dir !== undefined && given.template !== undefined)) {
    return { dir: given.dir ?? '.', template: given.template ?? 'minimal' }
  }
  const { isCancel, select, text } = await import('@clack/prompts')
  const streams = { input: out.streams.stdin as Readable, output: out.streams.stderr as Writable }
  const dir =
    given.dir ?? (await text({ message: 'Where shall the project be?', initialValue: 'my-automations', ...streams }))
  if (isCancel(dir)) throw leave()
  const options = NAMES.map((value) => ({ value, label: value, hint: TEMPLATES[value] }))
  const template = given.template ?? (await select({ message: 'What shall it begin with?', options, ...streams }))
  if (isCancel(template)) throw leave()
  return { dir, template }
}

function leave(): DOMException {
  return new DOMException('Nothing was made.', 'AbortError')
}

function refuseConflicts(root: string, files: readonly ProjectFile[]): void {
  const taken = files.filter(({ path }) => existsSync(join(root, path))).map(({ path }) => path)
  if (taken.length === 0) return
  const message = `In ${root} there is already: ${taken.join(', ')}. Nothing was made.`
  throw new UpshotError('conflict', message, {
    details: { fix: 'Name an empty folder, or move these files out of the way.' },
  })
}

function write(root: string, { path, content }: ProjectFile): void {
  const target = join(root, path)
  mkdirSync(dirname(target), { recursive: true })
  // "wx": a file that has come in the meantime is not overwritten either.
  writeFileSync(target, content, { flag: 'wx' })
}

function report(
  out: Output,
  { root, template, files }: { root: string; template: TemplateName; files: ProjectFile[] },
) {
  const paths = files.map(({ path }) => path)
  const place = relative(process.cwd(), root)
  const next = [...(place === '' ? [] : [`cd ${place}`]), 'npm install', 'npm run dev']
  const data = { dir: root, template, files: paths, next, made: !out.given.dryRun }
  out.result(data, () => [
    `${out.given.dryRun ? 'Would make' : 'Made'} ${paths.length} files in ${root}:`,
    ...paths.map((path) => `  ${path}`),
  ])
  if (!out.given.dryRun) out.note(`Next:\n${next.map((line) => `  ${line}`).join('\n')}`)
}
