import { addDifferences } from '../../core/safety/differences/add-differences.ts'
import { type Differences, type Group, NO_DIFFERENCES } from '../../core/safety/differences/difference.ts'
import type { WorkflowLimits } from '../../core/safety/guard.ts'
import { compareSides, differencesOf } from '../../engine/play/compare/compare-sides.ts'
import type { RunSide } from '../../engine/play/compare/deed.ts'
import { type Exceeded, GuardTally } from '../../engine/play/compare/guard-tally.ts'
import { addHolds } from '../../engine/play/compare/hold.ts'
import { sideOfPlay } from '../../engine/play/compare/side-of-play.ts'
import type { AnswerRules } from '../../engine/play/compose-answers.ts'
import { describeRefused } from '../play/describe-play.ts'
import type { PlayedJob, Room } from '../play/room.ts'
import type { CasePage, RecordedCase } from './read-cases.ts'

/** The differences of code from many recorded runs. */
export interface Backtest extends Differences {
  /** Runs that go on. */
  unfinished: number
  /** Limits that this code would exceed. */
  guard: Exceeded[]
}

/** The code of one side. */
type Code = Pick<Room, 'play' | 'settings' | 'code'>

interface Options extends PageOptions {
  workflow: string
  /** Plays the code that is tried. */
  room: Code
  /** Plays the code that it is compared with; null: the recordings are the other side. */
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
  /** Hears how many runs were played. */
  onPlayed?: (count: number) => void
}

/** Pages at work at a time: the room plays one while the next is read. */
const PAGES_AT_WORK = 2
/** One run in so many is played twice. */
const STEADY_EVERY = 100

/** Plays recorded runs with the code of a room, and compares. Only groups are held. */
export async function backtest(pages: AsyncIterable<CasePage>, options: Options): Promise<Backtest> {
  const { room, workflow } = options
  const guard = new GuardTally(room.settings.guard.limits, ownLimits(room, workflow))
  let unfinished = 0
  let probes = 0
  const found = await addPages(pages, options, async (page) => {
    unfinished += page.unfinished.length
    const cases = page.cases.map((each) => ({ ...each, isTwice: probes++ % STEADY_EVERY === 0 }))
    const others = page.noBody + page.notStarted + page.unfinished.length
    return [
      { ...NO_DIFFERENCES, runs: others, noBody: page.noBody, notStarted: page.notStarted },
      ...(await playCases(cases, options, guard)),
    ]
  })
  const starts = (await options.findStarts?.(found.groups)) ?? []
  return { ...found, unfinished, guard: guard.exceeded, groups: [...starts, ...found.groups] }
}

/** Goes through pages two at a time, and adds up what `use` finds in each. */
export async function addPages<Page>(
  pages: AsyncIterable<Page>,
  { signal, onPlayed = () => {} }: PageOptions,
  use: (page: Page) => Promise<Differences[]>,
): Promise<Differences> {
  let found = NO_DIFFERENCES
  const add = async (page: Page) => {
    const more = await use(page)
    found = addDifferences(found, more)
    onPlayed(found.runs)
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

async function playCases(cases: readonly Case[], options: Options, guard: GuardTally): Promise<Differences[]> {
  const { room, against, workflow, rules } = options
  if (cases.length === 0) return []
  const jobsOf = (isTwice: boolean) => cases.map((each) => ({ ...each.job, isTwice: isTwice && each.isTwice }))
  const [ends, others] = await Promise.all([room.play(jobsOf(true), rules), against?.play(jobsOf(false), rules)])
  return cases.flatMap((each, index) => {
    const [end, other] = [ends[index], others?.[index]]
    if (end === undefined) return []
    guard.add({ runId: each.run, workflow, account: each.account }, end.effects, each.at)
    const before = other && against ? sideOf(against, workflow, each, other) : each.side
    const { withOutputs } = options
    const verdict = compareSides(before, sideOf(room, workflow, each, end), { withOutputs, isCut: each.isCut })
    const sample = { run: each.run, event: each.event }
    const refused = [...new Set(end.undeclared.map(describeRefused))].map((call) => ({ call, count: 1 }))
    return [{ ...differencesOf(verdict, sample), refused, unsteady: end.isSteady ? [] : [sample] }]
  })
}

function ownLimits({ code }: Pick<Room, 'code'>, workflow: string): WorkflowLimits | undefined {
  return code.workflows.find(({ id }) => id === workflow)?.guard
}

/** The side of the code of a room in a case, with the holds of its guard. */
function sideOf(room: Code, workflow: string, { run, account, side }: RecordedCase, end: PlayedJob): RunSide {
  const rules = { limits: room.settings.guard.limits, own: ownLimits(room, workflow) }
  const source = { runId: run, workflow, account }
  return addHolds(sideOfPlay(end), end.effects, { ...rules, source, recorded: side.deeds })
}
