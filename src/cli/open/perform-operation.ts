import type { Preview } from '../../app/console/preview-operation.ts'
import type { BulkOperation, BulkPlan, BulkRefusal } from '../../core/safety/bulk.ts'
import { confirm } from '../terminal/confirm.ts'
import { onInterrupt } from '../terminal/on-interrupt.ts'
import type { Output } from '../terminal/output.ts'
import { showProgress } from '../terminal/progress.ts'
import { commandClock } from './command-clock.ts'
import type { PersonStore } from './operations.ts'

/** Refused runs or events that are listed for a person. */
const SHOWN = 20

/** Words for an operation in a question and in a report. */
export interface OperationWords {
  /** The things it is done to. */
  things: 'Runs' | 'Events'
  /** Such as `retried`. */
  done: string
  /** The whole of it, such as `retry 2 runs (failed)`. */
  describe: (preview: Pick<Preview, 'total' | 'runs'>) => string
}

/** An operation that is over, or that had nothing to do. */
type Ended = Pick<BulkOperation, 'status' | 'done' | 'refused'> & { id: string | null }

/**
 * Begins a tracked operation after a confirmation, and works on it until it is over. A running app
 * goes on with it where this process dies; Ctrl-C aborts it.
 */
export async function performOperation(
  out: Output,
  store: PersonStore,
  { plan, words }: { plan: BulkPlan; words: OperationWords },
): Promise<void> {
  const { previewOperation } = await import('../../app/console/preview-operation.ts')
  const preview = await previewOperation(store, plan)
  const { total, refused, refusals } = preview
  const intent = { will: words.describe(preview), things: preview.first.map(describeTarget), count: total }
  const isConfirmed = total > 0 && (await confirm(out, intent))
  if (out.given.dryRun) return reportDryRun(out, { plan, words, preview })
  if (!isConfirmed) return report(out, { plan, words }, { id: null, status: 'done', done: 0, refused }, refusals)
  const ended = await workOn(out, store, { plan, title: `${words.things} ${words.done}`, total: total + refused })
  if (ended.status === 'aborted') out.leaveWith('failed')
  report(out, { plan, words }, ended, await store.listBulkRefusals(plan.id))
}

async function workOn(
  out: Output,
  store: PersonStore,
  { plan, title, total }: { plan: BulkPlan; title: string; total: number },
): Promise<BulkOperation> {
  const { id } = plan
  const signal = onInterrupt()
  await store.startBulk(plan)
  out.note(`Begun as ${id}. A running app goes on with it if this command dies.`)
  const { workOnOperation } = await import('../../app/console/work-on-operation.ts')
  const told = new Set<string>()
  using progress = showProgress(out, { title, total, unit: 'count' })
  const reached = await workOnOperation(store, id, {
    clock: commandClock,
    signal,
    onProgress: ({ done, refused }) => progress.set(done + refused),
    onOther: ({ id: other, kind }) => {
      if (!told.has(other)) out.note(`First goes on with the older operation ${other} (${kind}).`)
      told.add(other)
    },
  })
  if (reached.endedAt === null) await store.abortBulk(id, commandClock.now())
  return (await store.findBulk(id)) ?? reached
}

function describeTarget({ id, workflows, of }: Preview['first'][number]): string {
  return 'status' in of ? `${id}  ${of.workflow}  ${of.status}` : `${id}  ${of.type}  ${workflows.join(', ')}`
}

function countOf({ things }: OperationWords, count: number): string {
  const thing = things.toLowerCase()
  return `${count} ${count === 1 ? thing.slice(0, -1) : thing}`
}

function reportDryRun(
  out: Output,
  { plan: { kind }, words, preview }: { plan: BulkPlan; words: OperationWords; preview: Preview },
): void {
  const { total, refused, refusals } = preview
  const first = preview.first.map(({ id }) => id)
  const runs = kind === 'replay' ? { runs: preview.runs } : {}
  out.result({ kind, dryRun: true, matched: total, ...runs, first, refused, refusals }, () => [
    `This would ${words.describe(preview)}.`,
    ...describeRefusals(refused, refusals),
  ])
}

function report(
  out: Output,
  { plan: { kind }, words }: { plan: BulkPlan; words: OperationWords },
  { id, status, done, refused }: Ended,
  refusals: readonly BulkRefusal[],
): void {
  out.result({ kind, dryRun: false, operation: id, status, done, refused, refusals }, () => [
    `${countOf(words, done)} ${words.done}${refused === 0 ? '' : `, ${refused} refused`}.`,
    ...describeRefusals(refused, refusals),
    ...(status === 'aborted' ? [`Aborted; what is done stays done. See "upshot operations show ${id}".`] : []),
  ])
}

export function describeRefusals(refused: number, refusals: readonly BulkRefusal[]): string[] {
  const lines = refusals.slice(0, SHOWN).map(({ target, why }) => `  ${target}  ${why}`)
  return refused > SHOWN ? [...lines, `  … and ${refused - SHOWN} more`] : lines
}
