import type { Differences, Group, Sample } from '../../core/safety/difference.ts'
import type { WorkflowLimits } from '../../core/safety/guard.ts'
import { compareSides } from '../../engine/play/compare/compare-sides.ts'
import type { RunSide } from '../../engine/play/compare/deed.ts'
import { type Exceeded, GuardTally } from '../../engine/play/compare/guard-tally.ts'
import { addHolds } from '../../engine/play/compare/hold.ts'
import { sideOfPlay } from '../../engine/play/compare/side-of-play.ts'
import { Tally } from '../../engine/play/compare/tally.ts'
import { describeRefused } from '../play/describe-refused.ts'
import type { PlayRules } from '../play/play-job.ts'
import type { Room, RoomJobEnd } from '../play/room.ts'
import type { CasePage, RecordedCase } from './read-cases.ts'

/** The differences of code from many recorded runs. */
export interface Backtest extends Differences {
  /** Runs that go on. */
  unfinished: number
  /** Limits that this code would exceed. */
  guard: Exceeded[]
}

interface Options {
  workflow: string
  /** Plays the code that is tried. */
  room: Pick<Room, 'playAll' | 'settings' | 'code'>
  /** Plays the code that it is compared with; null: the recordings are the other side. */
  against: Pick<Room, 'playAll' | 'settings' | 'code'> | null
  rules: PlayRules
  withOutputs: boolean
  /** Finds what else starts runs now, beside the groups of recorded runs. Default: nothing. */
  findStarts?: (known: readonly Group[]) => Promise<Group[]>
  /** Ends the backtest after the page at work, with the reason of the signal. */
  signal?: AbortSignal
  /** Hears how many runs were played. */
  onPlayed?: (count: number) => void
}

/** Pages at work at a time: the room plays one while the next is read. */
const PAGES_AT_WORK = 2
/** One run in so many is played twice. */
const STEADY_EVERY = 100
/** Unsteady runs, and refused calls, that are named. */
const NAMED = 20

/** Plays recorded runs with the code of a room, and compares. Only groups are held. */
export async function backtest(pages: AsyncIterable<CasePage>, options: Options): Promise<Backtest> {
  const { signal, onPlayed = () => {} } = options
  const found = new Findings(options)
  const atWork: Promise<void>[] = []
  try {
    for await (const page of pages) {
      signal?.throwIfAborted()
      atWork.push(playPage(page, options, found).then(() => onPlayed(found.played)))
      if (atWork.length >= PAGES_AT_WORK) await atWork.shift()
    }
    for (const each of atWork) await each
  } finally {
    await Promise.allSettled(atWork)
  }
  const result = found.conclude()
  const starts = (await options.findStarts?.(result.groups)) ?? []
  return { ...result, groups: [...starts, ...result.groups] }
}

async function playPage(page: CasePage, { room, against, workflow, rules }: Options, found: Findings): Promise<void> {
  found.count(page)
  const { cases } = page
  if (cases.length === 0) return
  const jobs = cases.map(({ job }) => ({ ...job, isTwice: found.isProbe() }))
  const [ends, others] = await Promise.all([
    room.playAll(workflow, jobs, rules),
    against?.playAll(
      workflow,
      jobs.map((job) => ({ ...job, isTwice: false })),
      rules,
    ),
  ])
  cases.forEach((each, index) => {
    const end = ends[index]
    const other = others?.[index]
    if (end) found.add(each, end, other)
  })
}

type Code = Pick<Room, 'settings' | 'code'>

function ownLimits({ code }: Code, workflow: string): WorkflowLimits | undefined {
  return code.workflows.find(({ id }) => id === workflow)?.guard
}

/** The side of the code of a room in a case, with the holds of its guard. */
function sideOf(room: Code, workflow: string, { run, account, side }: RecordedCase, end: RoomJobEnd): RunSide {
  const rules = { limits: room.settings.guard.limits, own: ownLimits(room, workflow) }
  const source = { runId: run, workflow, account }
  return addHolds(sideOfPlay(end), end.effects, { ...rules, source, recorded: side.deeds })
}

/** Everything that a backtest keeps. */
class Findings {
  played = 0
  readonly #tally = new Tally()
  readonly #guard: GuardTally
  readonly #options: Options
  readonly #unsteady: Sample[] = []
  readonly #refused = new Map<string, number>()
  readonly #counts = { runs: 0, noBody: 0, notStarted: 0, unfinished: 0 }
  #probes = 0

  constructor(options: Options) {
    this.#options = options
    this.#guard = new GuardTally(options.room.settings.guard.limits, ownLimits(options.room, options.workflow))
  }

  isProbe(): boolean {
    return this.#probes++ % STEADY_EVERY === 0
  }

  count({ cases, noBody, notStarted, unfinished }: CasePage): void {
    this.#counts.runs += cases.length + noBody + notStarted + unfinished.length
    this.#counts.noBody += noBody
    this.#counts.notStarted += notStarted
    this.#counts.unfinished += unfinished.length
  }

  /** `other`: what other code does in the place of the recording. */
  add(found: RecordedCase, end: RoomJobEnd, other: RoomJobEnd | undefined): void {
    this.played += 1
    const { run, event, account, at, isCut } = found
    const sample = { run, event }
    const { withOutputs, workflow, room, against } = this.#options
    const before = other && against ? sideOf(against, workflow, found, other) : found.side
    this.#tally.add(sample, compareSides(before, sideOf(room, workflow, found, end), { withOutputs, isCut }))
    this.#guard.add({ runId: run, workflow, account }, end.effects, at)
    if (!end.isSteady && this.#unsteady.length < NAMED) this.#unsteady.push(sample)
    for (const call of new Set(end.undeclared.map(describeRefused))) {
      if (this.#refused.size < NAMED || this.#refused.has(call)) {
        this.#refused.set(call, (this.#refused.get(call) ?? 0) + 1)
      }
    }
  }

  conclude(): Backtest {
    const { same, groups, unknown } = this.#tally
    const open = unknown.reduce((sum, { count }) => sum + count, 0)
    return {
      ...{ ...this.#counts, answered: this.played - open, same, groups, cannotSay: unknown },
      unsteady: this.#unsteady,
      refused: [...this.#refused].map(([call, count]) => ({ call, count })),
      guard: this.#guard.exceeded,
    }
  }
}
