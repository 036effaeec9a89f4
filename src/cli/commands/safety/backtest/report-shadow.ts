import { requireWorkflow } from '../../../../admin/queries/require-row.ts'
import { acceptedFile, readAccepted } from '../../../../app/backtest/accepted-keys.ts'
import { UpshotError } from '../../../../core/errors.ts'
import { NO_DIFFERENCES } from '../../../../core/safety/differences/difference.ts'
import type { ShadowBook } from '../../../../core/safety/differences/shadow-book.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import { listShadows, type ShadowModule, workflowFileOf } from '../../../../project/workflows/list-shadows.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { formatMoment } from '../../../terminal/format-value.ts'
import type { BacktestOptions } from './backtest-options.ts'
import { formatBacktest, formatNumber } from './backtest-view.ts'
import { reportDifferences } from './report-differences.ts'

const NO_RUNS = `0 of 0 runs: none that was made since then has ended, so nothing is known.
Older ones are played by "upshot backtest <workflow> --code <this file>".`

/** `upshot backtest <workflow> --shadow`: its shadow's differences from runs since it was added. */
export function reportShadow(
  { out, project }: Cli,
  workflow: string,
  { require, failOn, ...asked }: BacktestOptions,
): Promise<void> {
  return project.withReads(async (store, { workflowsDir }) => {
    const { module, book, target } = await readShadow(store, workflowsDir, workflow)
    const { file, code } = module
    const found = { ...(book?.found ?? NO_DIFFERENCES), unfinished: book?.late.length ?? 0, guard: [] }
    const kept = acceptedFile(workflowsDir, workflow)
    const accepted = readAccepted(kept)
    const lines = [describeBook(file, book, commandClock.now())]
    const about = { workflow, candidate: code, against: 'recorded', accepted, lines }
    const [since, followed] = [isoOf(book?.since), isoOf(book?.followed)]
    const { guard: _, ...differences } = found
    out.result(
      {
        ...{ workflow, file, candidate: code, since, followed, ...differences },
        ...{ missed: book?.missed ?? 0, accepted: [...accepted] },
      },
      () => (found.runs === 0 ? lines : formatBacktest(found, about, out)),
    )
    if (found.runs === 0) {
      out.note(book === null ? 'A running app, or a process that schedules, looks at it within 10 s.' : NO_RUNS)
      return out.leaveWith('notFound')
    }
    const rule = { failOn, required: require, isThrottled: false, unknown: null } as const
    reportDifferences(out, found, { about, file: kept, asked, rule })
    out.note(`To put it in the place of the present module: mv ${module.path} ${target}`)
  })
}

/** The shadow of a workflow. `target`: the name that it gets in place of its module. */
async function readShadow(
  store: ReadStore,
  workflowsDir: string,
  workflow: string,
): Promise<{ module: ShadowModule; book: ShadowBook | null; target: string }> {
  const { file } = await requireWorkflow(store, workflow)
  const kept = await store.listShadows(workflow)
  const modules = await listShadows(workflowsDir)
  const files = [file, ...kept.map(({ book }) => workflowFileOf(book.file))]
  const module =
    modules.find(({ code }) => kept.some((each) => each.code === code)) ??
    modules.find((each) => files.includes(workflowFileOf(each.file)))
  if (module === undefined) throw describeMissing(workflow, file)
  const book = kept.find(({ code }) => code === module.code)?.book ?? null
  return { module, book, target: module.path.replace(module.file, file) }
}

/** A line about the runs that were looked at; null: no process has looked at this code yet. */
function describeBook(file: string, book: ShadowBook | null, now: number): string {
  if (book === null) return `${file}: no process has looked at this code yet.`
  const looked = `${file}: runs made since ${formatMoment(book.since, now)}, up to ${formatMoment(book.followed, now)}`
  return book.missed === 0 ? `${looked}.` : `${looked}; ${formatNumber(book.missed)} ended too late to be looked at.`
}

function describeMissing(workflow: string, file: string): UpshotError {
  const shadow = file.replace(/\.workflow\.([jt]s)$/, '.shadow.$1')
  return new UpshotError('not_found', `The workflow "${workflow}" has no shadow.`, {
    details: { fix: `Write its new version beside ${file}, as ${shadow}, with the same id.` },
  })
}

function isoOf(moment: number | undefined): string | null {
  return moment === undefined ? null : new Date(moment).toISOString()
}
