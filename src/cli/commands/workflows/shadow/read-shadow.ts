import { requireWorkflow } from '../../../../admin/queries/require-row.ts'
import type { Backtest } from '../../../../app/backtest/backtest.ts'
import { UpshotError } from '../../../../core/errors.ts'
import { NO_DIFFERENCES } from '../../../../core/safety/difference.ts'
import type { ShadowBook } from '../../../../core/safety/shadow-book.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import { listShadows, type ShadowModule, workflowFileOf } from '../../../../project/workflows/list-shadows.ts'
import { formatMoment } from '../../../terminal/format-value.ts'
import { formatNumber } from '../../safety/backtest/backtest-view.ts'

/** A shadow of a workflow, with all that is known of its code. */
export interface Shadow {
  module: ShadowModule
  /** The module at work, whose place it would take. */
  workflowFile: string
  /** Null before the first look at this code. */
  book: ShadowBook | null
}

/** The shadow of a workflow. Throws `not_found` where no module is its shadow. */
export async function readShadow(store: ReadStore, workflowsDir: string, workflow: string): Promise<Shadow> {
  const { file: workflowFile } = await requireWorkflow(store, workflow)
  const kept = await store.listShadows(workflow)
  const modules = await listShadows(workflowsDir)
  const files = [workflowFile, ...kept.map(({ book }) => workflowFileOf(book.file))]
  const module =
    modules.find(({ code }) => kept.some((each) => each.code === code)) ??
    modules.find(({ file }) => files.includes(workflowFileOf(file)))
  if (module === undefined) throw describeMissing(workflow, workflowFile)
  return { module, workflowFile, book: kept.find(({ code }) => code === module.code)?.book ?? null }
}

/** The differences of a shadow, as those of a backtest. */
export function differencesOf(book: ShadowBook | null): Backtest {
  return { ...(book?.found ?? NO_DIFFERENCES), unfinished: book?.late.length ?? 0, guard: [] }
}

/** A line about the runs that were looked at. */
export function describeBook({ module, book }: Shadow, now: number): string {
  if (book === null) return `${module.file}: no process has looked at this code yet.`
  const stretch = `runs made since ${formatMoment(book.since, now)}, up to ${formatMoment(book.followed, now)}`
  const looked = `${module.file}: ${stretch}`
  return book.missed === 0 ? `${looked}.` : `${looked}; ${formatNumber(book.missed)} ended too late to be looked at.`
}

const NO_RUNS = `0 of 0 runs: none that was made since then has ended, so nothing is known.
Older ones are played by "upshot backtest <workflow> --code <this file>".`

/** The reason that nothing can be said yet; null where runs were looked at. */
export function describeNothing({ module, book }: Shadow): string | null {
  if (book === null) {
    return `Nothing is known of ${module.file}. A running app, or a process that schedules, looks at it within 10 s.`
  }
  return book.found.runs > 0 ? null : NO_RUNS
}

function describeMissing(workflow: string, file: string): UpshotError {
  const shadow = file.replace(/\.workflow\.([jt]s)$/, '.shadow.$1')
  return new UpshotError('not_found', `The workflow "${workflow}" has no shadow.`, {
    details: { fix: `Write its new version beside ${file}, as ${shadow}, with the same id.` },
  })
}
