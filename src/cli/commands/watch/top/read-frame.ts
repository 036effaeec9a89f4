import type { AnswerOf } from '../../../../admin/client/index.ts'
import { call, type Operations } from '../../../open/operations.ts'

type System = AnswerOf<'GET /system'>
type Overview = AnswerOf<'GET /overview'>
type Run = AnswerOf<'GET /runs'>['items'][number]

/** Everything that one frame shows: what the page Overview shows, by the same operations. */
export interface Frame {
  at: number
  /** As it was a few seconds ago; null while no answer has come. */
  system: System | null
  overview: Overview
  /** Runs made in the present hour, the busiest workflow first. */
  workflows: WorkflowLoad[]
  /** The runs at work that tell how far they have come, newest first. */
  atWork: Run[]
  /** Failed runs and those that wait for a person, newest first. */
  forPerson: Run[]
}

export interface WorkflowLoad {
  workflow: string
  runs: number
  /** Of the last minute that was watched; null in the first frame. */
  perMinute: number | null
  /** Share of the ended runs, from 0 to 1; null while none has ended. */
  failed: number | null
  /** Milliseconds from start to end of completed runs, in the newest hour that knows them. */
  p50Ms: number | null
  p95Ms: number | null
}

const MINUTE_MS = 60_000
const MAX_PERSONAL = 50
/** Sizes change slowly, and a process that hangs answers late. */
const SYSTEM_MS = 10_000
const SYSTEM_WITHIN_MS = 1_000
const ENDED = ['completed', 'failed', 'canceled', 'skipped', 'planned']

/** Reads one frame after another, and tells how the counts rise from one to the next. */
export class Frames {
  readonly #operations: Operations
  #system: System | null = null
  #askedAt = Number.NEGATIVE_INFINITY
  /** Runs by workflow as earlier frames counted them, of the last minute. */
  #counts: { at: number; hour: string; runs: Map<string, number> }[] = []

  constructor(operations: Operations) {
    this.#operations = operations
  }

  async read(now: number): Promise<Frame> {
    const overview = await call(this.#operations, 'GET /overview')
    const [failed, waiting, running] = await Promise.all([
      this.#list({ status: 'failed', resolved: 'false', since: '24h' }),
      this.#list({ needsPerson: 'true' }),
      this.#list({ status: 'running' }),
    ])
    await this.#askSystem(now)
    const newest = [...failed, ...waiting].sort((one, other) => (one.id < other.id ? 1 : -1))
    return {
      at: now,
      system: this.#system,
      overview,
      workflows: this.#sumUp(overview, now),
      atWork: running.filter(({ progress }) => progress !== null),
      forPerson: newest,
    }
  }

  async #list(query: { status?: Run['status']; resolved?: 'false'; since?: string; needsPerson?: 'true' }) {
    return (await call(this.#operations, 'GET /runs', { query: { ...query, limit: MAX_PERSONAL } })).items
  }

  /** Waits no longer than a second: the rest of the frame does not need it. */
  async #askSystem(now: number): Promise<void> {
    if (now - this.#askedAt < SYSTEM_MS) return
    this.#askedAt = now
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, SYSTEM_WITHIN_MS)
    const asked = call(this.#operations, 'GET /system').then(
      (system) => {
        this.#system = system
      },
      () => {},
    )
    await Promise.race([asked, late.promise]).finally(() => clearTimeout(timer))
  }

  #sumUp({ hours }: Overview, now: number): WorkflowLoad[] {
    const hour = new Date(Math.floor(now / (60 * MINUTE_MS)) * 60 * MINUTE_MS).toISOString()
    const present = Map.groupBy(
      hours.filter(({ at }) => at === hour),
      ({ workflow }) => workflow,
    )
    const counts = [...present].map(([workflow, rows]) => [workflow, sum(rows)] as const)
    this.#counts = this.#counts.filter((each) => each.hour === hour && each.at >= now - MINUTE_MS)
    const [oldest] = this.#counts
    const loads = counts.map(([workflow, runs]): WorkflowLoad => {
      const rows = present.get(workflow) ?? []
      const ended = sum(rows.filter(({ status }) => ENDED.includes(status)))
      // An hour that is not over has counts alone.
      const usual = hours.findLast(
        (row) => row.workflow === workflow && row.status === 'completed' && row.p50Ms !== null,
      )
      const { p50Ms = null, p95Ms = null } = usual ?? {}
      const rise = oldest && ((runs - (oldest.runs.get(workflow) ?? 0)) * MINUTE_MS) / (now - oldest.at)
      const failed = ended === 0 ? null : sum(rows.filter(({ status }) => status === 'failed')) / ended
      return { workflow, runs, perMinute: rise ?? null, failed, p50Ms, p95Ms }
    })
    this.#counts.push({ at: now, hour, runs: new Map(counts) })
    return loads.sort((one, other) => other.runs - one.runs)
  }
}

function sum(rows: readonly { runs: number }[]): number {
  return rows.reduce((total, { runs }) => total + runs, 0)
}
