import { UpshotError } from '../../../core/errors.ts'
import type { RunOperation } from '../../../core/runs/run.ts'
import type { Cli } from '../../command.ts'
import { call, type Operations } from '../../open/operations.ts'
import { performOperation } from '../../operate/perform-operation.ts'
import { confirm } from '../../terminal/confirm.ts'
import type { Output } from '../../terminal/output.ts'
import { describeChoice, readIds, readRunChoice } from './select-runs.ts'

/** Named runs that are changed side by side. */
const SLICE = 20
/** Refused runs that are listed for a person. */
const SHOWN = 20

type RunAct = 'cancel' | 'retry' | 'resume' | 'resolve' | 'unresolve'

/** An operation on runs. */
interface RunWork {
  kind: RunOperation
  /** The operation on one run, and what it takes beside the reason. */
  act: RunAct
  body?: { fromScratch: boolean }
  /** Words for it in a question and in a report, such as `retry` and `retried`. */
  verb: string
  done: string
  /** Ask for a confirmation even if runs are named by id. */
  isDestructive?: boolean
}

/** The result for one run. */
interface Outcome {
  run: string
  workflow: string | null
  done: boolean
  /** The reason of a refusal; null if done. */
  why: string | null
}

/** Does it to the named runs at once, or to all selected ones, as a tracked operation. */
export async function operateOnRuns(
  { out, project }: Pick<Cli, 'out' | 'project'>,
  work: RunWork,
  { ids, options }: { ids: readonly string[]; options: Record<string, unknown> },
): Promise<void> {
  const choice = readRunChoice(options)
  const isSelected = Object.keys(choice).length > 0
  if (ids.length > 0 === isSelected) {
    throw new UpshotError('invalid_request', 'Give either ids of runs or options that select them.', {
      details: { fix: 'For example: "run_1", or "--status failed --since 1h".' },
    })
  }
  await project.withOperations(async (operations) => {
    if (!isSelected) return operateOnNamed(out, work, { operations, ids })
    const { kind, verb, done } = work
    const perSecond = (options.perSecond as number | undefined) ?? null
    const describe = ({ total }: { total: number }) => `${verb} ${countRuns(total)} (${describeChoice(choice)})`
    const body = { kind, filter: choice, perSecond }
    await performOperation(out, operations, { name: 'POST /operations', body, things: 'Runs', done, describe })
  })
}

async function operateOnNamed(
  out: Output,
  work: RunWork,
  { operations, ids }: { operations: Operations; ids: readonly string[] },
): Promise<void> {
  const named = await readIds(ids, 'runs')
  const perform = (body: object) => async (id: string) => {
    const name = `POST /runs/:id/${work.act}` as const
    const { id: run, workflow, status } = await call(operations, name, { params: { id }, body } as never)
    return { run, workflow, status }
  }
  if (work.isDestructive || out.given.dryRun) {
    const { done } = await ask(named, perform({ ...work.body, isDryRun: true }))
    const things = done.map(({ run, workflow, status }) => `${run}  ${workflow}  ${status}`)
    const will = `${work.verb} ${countRuns(done.length)}`
    if (!(await confirm(out, { will, things }))) {
      const first = done.map(({ run }) => run)
      const data = { kind: work.kind, dryRun: true, matched: done.length, first }
      return out.result(data, () => [`This would ${will}.`])
    }
  }
  const { done, refused } = await ask(named, perform({ ...work.body }))
  const outcomes: Outcome[] = [
    ...done.map(({ run, workflow }) => ({ run, workflow, done: true, why: null })),
    ...refused.map(({ id, error }) => ({ run: id, workflow: null, done: false, why: error.message })),
  ]
  if (refused.length > 0) out.leaveWith('failed')
  report(out, work, outcomes)
}

/** Asks for each of the runs. Throws where none could be done; an unknown run ends the command. */
async function ask<Answer>(ids: readonly string[], perform: (id: string) => Promise<Answer>) {
  const done: Answer[] = []
  const refused: { id: string; error: UpshotError }[] = []
  for (let from = 0; from < ids.length; from += SLICE) {
    const slice = ids.slice(from, from + SLICE).map(async (id) => {
      try {
        done.push(await perform(id))
      } catch (error) {
        if (!(error instanceof UpshotError && error.code === 'conflict')) throw error
        refused.push({ id, error })
      }
    })
    await Promise.all(slice)
  }
  const [first] = refused
  if (done.length === 0 && first) throw first.error
  return { done, refused }
}

function countRuns(count: number): string {
  return `${count} ${count === 1 ? 'run' : 'runs'}`
}

function report(out: Output, { kind, done: word }: RunWork, outcomes: readonly Outcome[]): void {
  const done = outcomes.filter((outcome) => outcome.done)
  const rest = outcomes.filter((outcome) => !outcome.done)
  out.result({ kind, dryRun: false, done: done.length, refused: rest.length, runs: outcomes }, () => [
    `${countRuns(done.length)} ${word}${rest.length === 0 ? '.' : `, ${rest.length} refused.`}`,
    ...rest.slice(0, SHOWN).map(({ run, why }) => `  ${run}  ${why}`),
    ...(rest.length > SHOWN ? [`  … and ${rest.length - SHOWN} more`] : []),
  ])
}
