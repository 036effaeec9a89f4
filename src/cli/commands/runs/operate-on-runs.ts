import { UpshotError } from '../../../core/errors.ts'
import { firstId, newId } from '../../../core/ids.ts'
import { findLostCause, findObstacle, type Run, type RunOperation } from '../../../core/runs/run.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { requireRun } from '../../open/find-run.ts'
import type { PersonStore } from '../../open/open-project.ts'
import { performOperation } from '../../open/perform-operation.ts'
import { confirm } from '../../terminal/confirm.ts'
import type { Output } from '../../terminal/output.ts'
import { describeChoice, findFilter, type RunChoice, readIds } from './select-runs.ts'

/** Named runs that are changed side by side. */
const SLICE = 100
/** Refused runs that are listed for a person. */
const SHOWN = 20

/** An operation on runs. */
interface RunWork {
  kind: RunOperation
  /** Words for it in a question and in a report, such as `retry` and `retried`. */
  verb: string
  done: string
  /** Ask for a confirmation even if runs are named by id. */
  isDestructive?: boolean
  /** False if the run's state has changed meanwhile. */
  perform(store: PersonStore, runId: string): Promise<boolean>
}

/** The runs of an operation: named ones, or all that the options select, at a pace. */
interface Given {
  ids: readonly string[]
  choice: RunChoice & { perSecond?: number | undefined }
}

/** The result for one run. */
interface Outcome {
  run: string
  workflow: string
  done: boolean
  /** The reason of a refusal; null if done. */
  why: string | null
}

/** Does it to the named runs at once, or to all selected ones, as a tracked operation. */
export async function operateOnRuns(
  { out, project }: Pick<Cli, 'out' | 'project'>,
  work: RunWork,
  { ids, choice: { perSecond, ...choice } }: Given,
): Promise<void> {
  const isSelected = Object.values(choice).some((value) => value !== undefined)
  if (ids.length > 0 === isSelected) {
    throw new UpshotError('invalid_request', 'Give either ids of runs or options that select them.', {
      details: { fix: 'For example: "run_1", or "--status failed --since 1h".' },
    })
  }
  const { operator } = project
  await project.withStore(async (store) => {
    if (!isSelected) return operateOnNamed(out, work, { store, ids })
    const { kind, verb, done } = work
    const createdAt = commandClock.now()
    const filter = { ...(await findFilter(store, choice)), before: firstId('run', createdAt) }
    const id = newId('opr', createdAt)
    const plan = { id, kind, filter, operator, perSecond: perSecond ?? null, isDryRun: false, createdAt }
    const describe = ({ total }: { total: number }) => `${verb} ${countRuns(total)} (${describeChoice(choice)})`
    await performOperation(out, store, { plan, words: { things: 'Runs', done, describe } })
  })
}

async function operateOnNamed(
  out: Output,
  work: RunWork,
  { store, ids }: { store: PersonStore; ids: readonly string[] },
): Promise<void> {
  const named = await readIds(ids, 'runs')
  const runs = await Promise.all(named.map((id) => requireRun(store, id)))
  const now = commandClock.now()
  const possible = runs.filter((run) => findObstacle(work.kind, run, now) === null)
  const refused = runs.filter((run) => !possible.includes(run))
  if (possible.length === 0) throw describeRefusal(work, refused, now)
  const things = possible.map(({ id, workflow, status }) => `${id}  ${workflow}  ${status}`)
  const mustAsk = work.isDestructive || out.given.dryRun
  if (mustAsk && !(await confirm(out, { will: `${work.verb} ${countRuns(possible.length)}`, things }))) {
    const first = possible.map(({ id }) => id)
    const matched = possible.length
    return out.result({ kind: work.kind, dryRun: true, matched, first }, () => [
      `This would ${work.verb} ${countRuns(matched)}.`,
    ])
  }
  const done: boolean[] = []
  for (let from = 0; from < possible.length; from += SLICE) {
    const slice = possible.slice(from, from + SLICE)
    done.push(...(await Promise.all(slice.map((run) => work.perform(store, run.id)))))
  }
  const outcomes = [
    ...possible.map((run, index) => toOutcome(run, done[index] ? null : 'its state has changed meanwhile')),
    ...refused.map((run) => toOutcome(run, findObstacle(work.kind, run, now))),
  ]
  if (outcomes.some(({ done }) => !done)) out.leaveWith('failed')
  report(out, work, outcomes)
}

function countRuns(count: number): string {
  return `${count} ${count === 1 ? 'run' : 'runs'}`
}

function toOutcome({ id, workflow }: Run, why: string | null): Outcome {
  return { run: id, workflow, done: why === null, why }
}

function describeRefusal({ kind, verb }: RunWork, [run]: readonly Run[], now: number): UpshotError {
  if (!run) return new UpshotError('invalid_request', 'No run was named.')
  const why = findObstacle(kind, run, now)
  const isLost = kind === 'retry' && findLostCause(run, now) !== null
  const fix = isLost ? suggestNewRun(run) : `See its state with "upshot runs show ${run.id}".`
  return new UpshotError('conflict', `Cannot ${verb} run ${run.id}: ${why}.`, { details: { fix } })
}

/** The commands that make a new run in place of one that a retry cannot help. */
function suggestNewRun({ id, eventId, tickAt, workflow }: Run): string {
  const fork = `Keep its finished steps with "upshot runs fork ${id} --from-step <step>"`
  if (eventId !== null) return `${fork}, or begin anew with "upshot events replay ${eventId} --workflow ${workflow}".`
  return tickAt === null ? `${fork}.` : `${fork}, or begin anew with "upshot schedules run ${workflow}".`
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
