import { describeError } from '../../core/errors.ts'
import type { Recording } from '../../core/runs/claim.ts'
import type { RunStatus } from '../../core/runs/run.ts'
import { DIVERGED } from '../../core/runs/step.ts'
import { type Differences, NO_DIFFERENCES } from '../../core/safety/differences.ts'
import { requireFit } from '../../core/service/require-fit.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { groupOf } from '../../engine/preview/compare/compare-sides.ts'
import { goesOn, KEEPS_WAIT } from '../../engine/preview/preview-run.ts'
import type { PreviewedEnd } from '../../engine/preview/previewed.ts'
import { describeRefused } from '../preview/describe-preview.ts'
import {
  describeMissing,
  type IsolatedProcess,
  type LoadedCode,
  type PreviewedJob,
} from '../preview/isolated-process.ts'
import { addPages, type PageOptions } from './backtest.ts'
import { listPages } from './read-cases.ts'

type Reads = Pick<ReadStore, 'listRuns' | 'readRecordings'>

interface Options extends PageOptions {
  /** Runs of this workflow only; undefined: of all. */
  workflow: string | undefined
  now: number
}

const UNFINISHED: readonly RunStatus[] = ['waiting', 'pending', 'running']

/**
 * Previews every unfinished run on its journal with the code of an isolated process. Nothing is
 * written.
 */
export function checkUnfinished(
  store: Reads,
  isolated: Pick<IsolatedProcess, 'preview' | 'code'>,
  options: Options,
): Promise<Differences> {
  const { workflow, now } = options
  const { code } = isolated
  const known = new Set(code.workflows.map(({ id }) => id))
  return addPages(readUnfinished(store, workflow), options, async (recordings) => {
    const [there, gone] = [true, false].map((is) => recordings.filter(({ run }) => known.has(run.workflow) === is))
    const previewed = await isolated.preview(there ?? [], { readsLive: false, journalAt: now })
    return [
      ...(there ?? []).flatMap((recording, index) => judge(recording, previewed[index])),
      ...(gone ?? []).map(({ run }) => differ(run, `waits for a person: ${describeMissing(run.workflow, code)}`)),
    ]
  })
}

/** A journal without a step fits any code. */
async function* readUnfinished(store: Reads, workflow: string | undefined): AsyncGenerator<Recording[]> {
  for (const status of UNFINISHED) {
    for await (const page of listPages(store, { status, ...(workflow === undefined ? {} : { workflow }) })) {
      const ids = page.map(({ id }) => id)
      yield (await store.readRecordings(ids)).filter(({ steps }) => steps.length > 0)
    }
  }
}

const ONE = { ...NO_DIFFERENCES, runs: 1, answered: 1 }

function judge({ run }: Recording, previewed: PreviewedJob | undefined): Differences[] {
  if (previewed === undefined) return []
  const { end, undeclared } = previewed
  // An error after which a worker tries again is no news.
  const isKnown = end.kind === 'failed' && end.error.message === run.error?.message
  if (goesOn(end) || isKnown) return [{ ...ONE, same: 1 }]
  // A refused call explains more than the fault that followed it.
  const [refused] = undeclared
  return [differ(run, refused ? `fails: ${describeRefused(refused)} is refused here` : describeEnd(end))]
}

function differ({ id, workflow, eventId }: Recording['run'], to: string): Differences {
  const about = { sign: '~', class: 'end', operation: workflow, target: null, bytes: 0 } as const
  return { ...ONE, groups: [groupOf([{ ...about, from: 'goes on', to }], { run: id, event: eventId })] }
}

/** The end of a run that would not go on. */
function describeEnd(end: PreviewedEnd): string {
  if (end.kind === 'failed') {
    const { name, message, step } = end.error
    return `fails: ${step === undefined ? '' : `step "${step}": `}${name}: ${message}`
  }
  if (end.kind === 'skipped') return `is skipped: ${end.reason}`
  if (end.kind !== 'halted') return end.kind
  if (end.reason.startsWith(KEEPS_WAIT)) return end.reason
  return end.reason.startsWith(DIVERGED)
    ? `diverges: ${end.reason.slice(DIVERGED.length)}`
    : `waits for a person: ${end.reason}`
}

/** A schedule whose runs would fail with the new code. */
interface Misfit {
  schedule: string
  workflow: string
  why: string
}

const PAGE = 500

/** The schedules of people and of code that the workflows of an isolated process would not take. */
export async function listMisfits(
  store: Pick<ReadStore, 'listSchedules'>,
  { workflows }: Pick<LoadedCode, 'workflows'>,
  workflow: string | undefined,
): Promise<Misfit[]> {
  const inputs = new Map(workflows.map(({ id, input }) => [id, input]))
  const misfits: Misfit[] = []
  for (let after = ''; ; ) {
    const query = { limit: PAGE, after, ...(workflow === undefined ? {} : { workflow }) }
    const page = await store.listSchedules(query)
    for (const { name, owner, workflow: id, input, plan, doneAt } of page) {
      if (id === null || owner === 'module' || plan.kind === 'backfill' || doneAt !== null) continue
      const why = findFault(id, inputs.get(id), JSON.parse(input ?? 'null'))
      if (why !== null) misfits.push({ schedule: name, workflow: id, why })
    }
    const last = page.at(-1)
    if (page.length < PAGE || last === undefined) return misfits
    after = last.id
  }
}

/** `schema`: undefined where no module has the workflow, null where it is not callable. */
function findFault(id: string, schema: LoadedCode['workflows'][number]['input'] | undefined, input: unknown) {
  if (schema === undefined) return `no module has the workflow "${id}"`
  if (schema === null) return `the workflow "${id}" is not callable`
  try {
    requireFit({ id, input: schema }, input)
    return null
  } catch (error) {
    return describeError(error).message
  }
}
