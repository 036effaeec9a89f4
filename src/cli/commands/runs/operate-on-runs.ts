import { UpshotError } from '../../../core/errors.ts'
import { findLostCause, findObstacle, type Run, type RunOperation } from '../../../core/runs/run.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { requireRun } from '../../open/find-run.ts'
import type { PersonStore } from '../../open/open-project.ts'
import { confirm } from '../../terminal/confirm.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import type { Output } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'
import { describeChoice, findRuns, type RunChoice, readIds } from './select-runs.ts'

/** Runs per commit. Ctrl-C takes effect after a commit. */
const SLICE = 100
/** Refused runs that are listed for a person. */
const SHOWN = 20

/** An operation on runs. */
interface RunWork {
  operation: RunOperation
  /** Words for it in a question and in a report, such as `retry` and `retried`. */
  verb: string
  done: string
  /** Ask for a confirmation even if runs are named by id. */
  isDestructive?: boolean
  /** False if the run's state has changed meanwhile. */
  perform(store: PersonStore, runId: string): Promise<boolean>
}

/** The result for one run. */
interface Outcome {
  run: string
  workflow: string
  done: boolean
  /** The reason of a refusal; null if done. */
  why: string | null
}

/** Does it to the named runs, or, after a confirmation, to all that the options select. */
export async function operateOnRuns(
  { out, project }: Pick<Cli, 'out' | 'project'>,
  work: RunWork,
  { ids, choice }: { ids: readonly string[]; choice: RunChoice },
): Promise<void> {
  const isSelected = Object.values(choice).some((value) => value !== undefined)
  if (ids.length > 0 === isSelected) {
    throw new UpshotError('invalid_request', 'Give either ids of runs or options that select them.', {
      details: {
        fix: `For example: upshot runs ${work.operation} --status failed --since 1h`,
      },
    })
  }
  await project.withStore(async (store) => {
    const runs = isSelected ? await findRuns(store, choice, work.operation) : await findNamed(store, ids)
    const now = commandClock.now()
    const possible = runs.filter((run) => findObstacle(work.operation, run, now) === null)
    const refused = runs.filter((run) => !possible.includes(run))
    if (!isSelected && possible.length === 0) throw describeRefusal(work, refused, now)
    const mustAsk = isSelected || work.isDestructive || out.given.dryRun
    const selection = isSelected ? ` (${describeChoice(choice)})` : ''
    const will = `${work.verb} ${possible.length} ${possible.length === 1 ? 'run' : 'runs'}${selection}`
    const things = possible.map(({ id, workflow, status }) => `${id}  ${workflow}  ${status}`)
    const isConfirmed = !mustAsk || possible.length === 0 || (await confirm(out, { will, things }))
    if (!isConfirmed) return report(out, work, { outcomes: [], matched: possible })
    const outcomes = await performAll(out, work, { store, runs: possible })
    const all = [...outcomes, ...refused.map((run) => toOutcome(run, findObstacle(work.operation, run, now)))]
    if (!isSelected && all.some(({ done }) => !done)) out.leaveWith('failed')
    report(out, work, { outcomes: all, matched: null })
  })
}

async function findNamed(store: PersonStore, named: readonly string[]): Promise<Run[]> {
  const ids = await readIds(named, 'runs')
  return Promise.all(ids.map((id) => requireRun(store, id)))
}

async function performAll(
  out: Output,
  work: RunWork,
  { store, runs }: { store: PersonStore; runs: readonly Run[] },
): Promise<Outcome[]> {
  const signal = onInterrupt()
  using progress = showProgress(out, { title: `Runs ${work.done}`, total: runs.length, unit: 'count' })
  const outcomes: Outcome[] = []
  for (let from = 0; from < runs.length; from += SLICE) {
    signal.throwIfAborted()
    const slice = runs.slice(from, from + SLICE)
    const done = await Promise.all(slice.map((run) => work.perform(store, run.id)))
    outcomes.push(...slice.map((run, index) => toOutcome(run, done[index] ? null : 'its state has changed meanwhile')))
    progress.set(outcomes.length)
  }
  return outcomes
}

function toOutcome({ id, workflow }: Run, why: string | null): Outcome {
  return { run: id, workflow, done: why === null, why }
}

function describeRefusal({ operation, verb }: RunWork, [run]: readonly Run[], now: number): UpshotError {
  if (!run) return new UpshotError('invalid_request', 'No run was named.')
  const why = findObstacle(operation, run, now)
  const isLost = operation === 'retry' && findLostCause(run, now) !== null
  const fix = isLost ? suggestNewRun(run) : `See its state with "upshot runs show ${run.id}".`
  return new UpshotError('conflict', `Cannot ${verb} run ${run.id}: ${why}.`, { details: { fix } })
}

/** The commands that make a new run in place of one that a retry cannot help. */
function suggestNewRun({ id, eventId, tickAt, workflow }: Run): string {
  const fork = `Keep its finished steps with "upshot runs fork ${id} --from-step <step>"`
  if (eventId !== null) return `${fork}, or begin anew with "upshot events replay ${eventId} --workflow ${workflow}".`
  return tickAt === null ? `${fork}.` : `${fork}, or begin anew with "upshot schedules run ${workflow}".`
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
