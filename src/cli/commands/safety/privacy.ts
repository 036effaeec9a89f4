import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { refuse } from '../../../core/errors.ts'
import { createEraser, type Words } from '../../../core/safety/create-eraser.ts'
import type { Cli } from '../../command.ts'
import { call } from '../../open/operations.ts'
import { confirm } from '../../terminal/confirm.ts'
import { showUnstoppable, showWork } from '../../terminal/progress.ts'

type Report = AnswerOf<'POST /privacy/find'>

const YOURS = 'Backups, logs, exports and files of the project are yours to clear. "privacy find" names such files.'

export function find(command: Command, { out, project }: Cli): void {
  addWords(command).action((options) =>
    project.withOperations(async (operations) => {
      const body = readWords(options)
      using work = showWork(out, 'Rows searched')
      const report = await call(operations, 'POST /privacy/find', { body }, work)
      const files = (await project.isFar()) ? [] : findInProject(project.root, body)
      out.result({ ...report, files }, () => [...describe(report), ...files.map((file) => `  in the file ${file}`)])
      out.note(YOURS)
    }),
  )
}

export function erase(command: Command, { out, project }: Cli): void {
  addWords(command)
    .option('--cancel-runs', 'cancel the unfinished runs that need it')
    .addHelpText('after', HELP)
    .action((options) =>
      project.withOperations(async (operations) => {
        const words = readWords(options)
        const cancelRuns = options.cancelRuns === true
        using work = showUnstoppable(out, 'Rows searched')
        const foreseen = await call(operations, 'POST /privacy/erase', { body: { ...words, isDryRun: true } }, work)
        work.end()
        const found = describe(foreseen)
        const { dryRun } = out.given
        // A dry run prints what it found as its result.
        const things = dryRun ? [] : found
        const will = `erase this from ${foreseen.rows.toLocaleString('en')} rows, for good`
        const isConfirmed = foreseen.rows > 0 && (await confirm(out, { will, things, isWhole: true }))
        if (!isConfirmed) {
          out.result({ ...foreseen, dryRun }, () => (dryRun ? found : ['Nothing was erased.']))
          return
        }
        const answer = await call(operations, 'POST /privacy/erase', { body: { ...words, cancelRuns } }, work)
        out.result({ ...answer, dryRun: false }, () => [
          `Erased from ${answer.erased.toLocaleString('en')} rows.`,
          ...(answer.canceled.length === 0 ? [] : [`Canceled ${answer.canceled.join(', ')}.`]),
        ])
        out.note(YOURS)
      }),
    )
}

function addWords(command: Command) {
  return command
    .option('--text <text>', 'a text anywhere, in any case, such as a name')
    .option('--path <path>', 'the path of a file, or of a folder and all below it')
}

function readWords({ text, path }: { text?: string | undefined; path?: string | undefined }): Words {
  if ((text === undefined) !== (path === undefined)) {
    return text === undefined ? { kind: 'path', text: path ?? '' } : { kind: 'text', text }
  }
  throw refuse('Give either --text or --path.', 'For example: --text "Anna Meier", or --path /in/anna.pdf.')
}

function describe({ places, rows, searched, neededBy }: Report): string[] {
  if (rows === 0) return [`In none of ${searched.toLocaleString('en')} rows.`]
  return [
    ...places.map(({ table, column, rows: count }) => `${count.toLocaleString('en').padStart(9)}  ${table}.${column}`),
    ...neededBy.map((id) => `  needed by ${id}`),
  ]
}

const HELP = `
Under --dry-run, and before it asks, it counts the rows. A run that is not finished, a schedule and
an operation keep what they need: nothing is erased until they end. If it is interrupted, give the
same command again: it goes on with what is left.`

/** Folders with code of others, or with the database itself. */
const LEFT_OUT = new Set(['node_modules', '.git', '.upshot'])
const DATABASE = /\.db(-wal|-shm|-open)?$/
const MAX_BYTES = 64 * 1024 * 1024
const MAX_FILES = 100

/** Files of a project with the words, such as saved runs and plans: named, and not changed. */
export function findInProject(root: string, words: Words): string[] {
  const eraser = createEraser(words)
  const found: string[] = []
  const look = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (found.length === MAX_FILES) return
      if (entry.isDirectory() && !LEFT_OUT.has(entry.name)) look(path)
      else if (entry.isFile() && hasWords(path)) found.push(relative(root, path))
    }
  }
  const hasWords = (path: string) =>
    eraser.isIn(`/${relative(root, path)}`) ||
    (!DATABASE.test(path) && statSync(path).size <= MAX_BYTES && eraser.isIn(readFileSync(path, 'utf8')))
  look(root)
  return found
}
