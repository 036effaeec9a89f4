import { UpshotError } from '../../../core/errors.ts'
import { findObstacle, type Run, type RunOperation } from '../../../core/runs/run.ts'
import type { Store } from '../../../core/store/store.ts'
import { withStore } from '../../open/open-project.ts'
import { confirm } from '../../terminal/confirm.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import type { Output } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'
import { describeChoice, findRuns, type RunChoice, readIds, requireRun } from './select-runs.ts'

/** Runs of one slice: its writes share a commit, and Ctrl-C ends it after one. */
const SLICE = 100
/** Ids in a summary for a person. */
const SHOWN = 20

/** Something a person does to runs, one or many. */
export interface RunWork {
  operation: RunOperation
  /** What it is called before and after, such as `retry` and `taken up again`. */
  verb: string
  done: string
  /** Asks even where runs are named one by one. */
  isGrave?: boolean
  /** False when the run is in another state by now. */
  perform(store: Store, runId: string): Promise<boolean>
}

interface Outcome {
  run: string
  workflow: string
  done: boolean
  /** Why not; null when it was done. */
  why: string | null
}

/**
 * Does it to the runs that are named, or to all that the options choose; these it counts first, and
 * asks.
 */
export async function operateOnRuns(
  out: Output,
  work: RunWork,
  { ids, choice }: { ids: readonly string[]; choice: RunChoice },
): Promise<void> {
  const isChosen = Object.values(choice).some((value) => value !== undefined)
  if (ids.length > 0 === isChosen) {
    throw new UpshotError('invalid_request', 'Name runs by their ids, or choose them by options, one of the two.', {
      details: { fix: `Write for example "upshot runs ${work.operation} --status failed --since 1h", or name a run.` },
    })
  }
  await withStore(async (store) => {
    const runs = isChosen ? await findRuns(store, choice, work.operation) : await findNamed(store, ids)
    const possible = runs.filter((run) => findObstacle(work.operation, run) === null)
    const refused = runs.filter((run) => !possible.includes(run))
    if (!isChosen && possible.length === 0) throw describeRefusal(work, refused)
    const mustAsk = isChosen || work.isGrave || out.given.dryRun
    const will = `${work.verb} ${possible.length} ${possible.length === 1 ? 'run' : 'runs'}${isChosen ? ` (${describeChoice(choice)})` : ''}`
    const things = possible.map(({ id, workflow, status }) => `${id}  ${workflow}  ${status}`)
    const may = !mustAsk || possible.length === 0 || (await confirm(out, { will, things }))
    if (!may) return report(out, work, { outcomes: [], matched: possible })
    const outcomes = await performAll(out, work, { store, runs: possible })
    const told = [...outcomes, ...refused.map((run) => toOutcome(run, findObstacle(work.operation, run)))]
    if (!isChosen && told.some(({ done }) => !done)) out.leaveWith('failed')
    report(out, work, { outcomes: told, matched: null })
  })
}

async function findNamed(store: Store, named: readonly string[]): Promise<Run[]> {
  const ids = await readIds(named, 'runs')
  return Promise.all(ids.map((id) => requireRun(store, id)))
}

async function performAll(
  out: Output,
  work: RunWork,
  { store, runs }: { store: Store; runs: readonly Run[] },
): Promise<Outcome[]> {
  const signal = onInterrupt()
  using progress = showProgress(out, { title: `Runs ${work.done}`, total: runs.length, unit: 'count' })
  const outcomes: Outcome[] = []
  for (let from = 0; from < runs.length; from += SLICE) {
    signal.throwIfAborted()
    const slice = runs.slice(from, from + SLICE)
    const done = await Promise.all(slice.map((run) => work.perform(store, run.id)))
    outcomes.push(...slice.map((run, index) => toOutcome(run, done[index] ? null : 'it changed in the meantime')))
    progress.set(outcomes.length)
  }
  return outcomes
}

function toOutcome({ id, workflow }: Run, why: string | null): Outcome {
  return { run: id, workflow, done: why === null, why }
}

function describeRefusal({ operation, verb }: RunWork, [run]: readonly Run[]): UpshotError {
  if (!run) return new UpshotError('invalid_request', 'No run is named.')
  const why = findObstacle(operation, run)
  return new UpshotError('conflict', `Run ${run.id} cannot be asked to ${verb}: ${why}.`, {
    details: { fix: `Look at it with "upshot runs show ${run.id}".` },
  })
}

function report(
  out: Output,
  work: RunWork,
  { outcomes, matched }: { outcomes: Outcome[]; matched: Run[] | null },
): void {
  const { operation, done: word } = work
  if (matched) {
    const runs = matched.map(({ id }) => id)
    out.result({ operation, dryRun: true, matched: runs.length, runs }, () => [`${runs.length} runs would be ${word}.`])
    return
  }
  const done = outcomes.filter((outcome) => outcome.done)
  const rest = outcomes.filter((outcome) => !outcome.done)
  out.result({ operation, dryRun: false, done: done.length, refused: rest.length, runs: outcomes }, () => [
    `${done.length} ${done.length === 1 ? 'run' : 'runs'} ${word}${rest.length === 0 ? '.' : `, ${rest.length} not.`}`,
    ...rest.slice(0, SHOWN).map(({ run, why }) => `  ${run}  ${why}`),
    ...(rest.length > SHOWN ? [`  … and ${rest.length - SHOWN} more`] : []),
  ])
}
