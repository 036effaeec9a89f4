import { addDifferences, type Differences, type Group, NO_DIFFERENCES } from '../../core/safety/differences.ts'
import type { WorkflowLimits } from '../../core/safety/guard.ts'
import { compareSides, differencesOf } from '../../engine/preview/compare/compare-sides.ts'
import type { RunSide } from '../../engine/preview/compare/deed.ts'
import { type Exceeded, GuardTally } from '../../engine/preview/compare/guard-tally.ts'
import { addHeldBy } from '../../engine/preview/compare/held.ts'
import { sideOfPreview } from '../../engine/preview/compare/run-side.ts'
import type { AnswerRules } from '../../engine/preview/compose-answers.ts'
import { describeRefused } from '../preview/describe-preview.ts'
import type { IsolatedProcess, PreviewedJob } from '../preview/isolated-process.ts'
import type { CasePage, RecordedCase } from './read-cases.ts'

/** The differences of code from many recorded runs. */
export interface Backtest extends Differences {
  /** Runs that go on. */
  unfinished: number
  /** Limits that this code would exceed. */
  guard: Exceeded[]
}

type Code = Pick<IsolatedProcess, 'preview' | 'settings' | 'code'>

interface Options extends PageOptions {
  workflow: string
  /** Previews the code that is tried. */
  isolated: Code
  /** Previews the code that it is compared with; null: the recordings are the other side. */
  against: Code | null
  rules: AnswerRules
  withOutputs: boolean
  /** Finds what else starts runs now, beside the groups of recorded runs. Default: nothing. */
  findStarts?: (known: readonly Group[]) => Promise<Group[]>
}

/** How pages are gone through. */
export interface PageOptions {
  /** Ends it after the page at work, with the reason of the signal. */
  signal?: AbortSignal
  /** Hears how many runs were previewed. */
  onPreviewed?: (count: number) => void
}

/** Pages at work at a time: the isolated process previews one while the next is read. */
const PAGES_AT_WORK = 2
/** One run in so many is previewed twice. */
const STEADY_EVERY = 100

/**
 * Previews recorded runs with the code of an isolated process, and compares. Only groups are held.
 */
export async function backtest(pages: AsyncIterable<CasePage>, options: Options): Promise<Backtest> {
  const { isolated, workflow } = options
  const guard = new GuardTally(isolated.settings.guard.limits, ownLimits(isolated, workflow))
  let unfinished = 0
  let probes = 0
  const found = await addPages(pages, options, async (page) => {
    unfinished += page.unfinished
    const cases = page.cases.map((each) => ({ ...each, isTwice: probes++ % STEADY_EVERY === 0 }))
    const others = page.noBody + page.notStarted + page.unfinished
    return [
      { ...NO_DIFFERENCES, runs: others, noBody: page.noBody, notStarted: page.notStarted },
      ...(await previewCases(cases, options, guard)),
    ]
  })
  const starts = (await options.findStarts?.(found.groups)) ?? []
  return { ...found, unfinished, guard: guard.exceeded, groups: [...starts, ...found.groups] }
}

/** Goes through pages two at a time, and adds up what `use` finds in each. */
export async function addPages<Page>(
  pages: AsyncIterable<Page>,
  { signal, onPreviewed = () => {} }: PageOptions,
  use: (page: Page) => Promise<Differences[]>,
): Promise<Differences> {
  let found = NO_DIFFERENCES
  const add = async (page: Page) => {
    const more = await use(page)
    found = addDifferences(found, more)
    onPreviewed(found.runs)
  }
  const atWork: Promise<void>[] = []
  try {
    for await (const page of pages) {
      signal?.throwIfAborted()
      atWork.push(add(page))
      if (atWork.length >= PAGES_AT_WORK) await atWork.shift()
    }
    for (const each of atWork) await each
  } finally {
    await Promise.allSettled(atWork)
  }
  return found
}

type Case = RecordedCase & { isTwice: boolean }

async function previewCases(cases: readonly Case[], options: Options, guard: GuardTally): Promise<Differences[]> {
  const { isolated, against, workflow, rules } = options
  if (cases.length === 0) return []
  const jobsOf = (isTwice: boolean) => cases.map((each) => ({ ...each.job, isTwice: isTwice && each.isTwice }))
  const [ends, others] = await Promise.all([
    isolated.preview(jobsOf(true), rules),
    against?.preview(jobsOf(false), rules),
  ])
  return cases.flatMap((each, index) => {
    const [end, other] = [ends[index], others?.[index]]
    if (end === undefined) return []
    guard.add({ runId: each.run, workflow, account: each.account }, end.effects, each.at)
    const before = other && against ? sideOf(against, workflow, each, other) : each.side
    const { withOutputs } = options
    const verdict = compareSides(before, sideOf(isolated, workflow, each, end), { withOutputs, isCut: each.isCut })
    const sample = { run: each.run, event: each.event }
    const refused = [...new Set(end.undeclared.map(describeRefused))].map((call) => ({ call, count: 1 }))
    return [{ ...differencesOf(verdict, sample), refused, unsteady: end.isSteady ? [] : [sample] }]
  })
}

function ownLimits({ code }: Pick<IsolatedProcess, 'code'>, workflow: string): WorkflowLimits | undefined {
  return code.workflows.find(({ id }) => id === workflow)?.guard
}

/** The side of the code of an isolated process in a case, with what its guard would hold. */
function sideOf(isolated: Code, workflow: string, { run, account, side }: RecordedCase, end: PreviewedJob): RunSide {
  const rules = { limits: isolated.settings.guard.limits, own: ownLimits(isolated, workflow) }
  const source = { runId: run, workflow, account }
  return addHeldBy(sideOfPreview(end), end.effects, { ...rules, source, recorded: side.deeds })
}
