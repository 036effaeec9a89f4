import { firstId, readIdTime } from '../../../core/ids.ts'
import { Table } from '../../connection.ts'

const HOUR_MS = 3_600_000
/** The newest counted hour is read like the present one: a run of it may be committed late. */
const SLACK_HOURS = 1

/** A stretch of runs to read: ids from `from` on, and where the next older stretch ends. */
interface Zone {
  from: string
  /** Above every id of the next stretch; null where none has a run of the workflow. */
  next: string | null
}

/**
 * Hours in which a workflow has runs, by the hours that are counted. The list of a rare workflow
 * visits only these. See decision 48.
 */
export class WorkflowZones extends Table {
  // Index: primary keys; run_hour is read from an hour down to the first that has the workflow.
  readonly #counted = this.db.pluck<[], number>('SELECT hour FROM hour_counted')
  readonly #newestBelow = this.db.pluck<[number, string], number>(
    'SELECT hour FROM run_hour WHERE hour < ? AND workflow = ? ORDER BY hour DESC LIMIT 1',
  )
  readonly #has = this.db.pluck<[number, string], number>(
    'SELECT 1 FROM run_hour WHERE hour = ? AND workflow = ? LIMIT 1',
  )

  /** The stretch below the position `after`; null: from the newest run on. */
  async find(workflow: string, after: string | null): Promise<Zone> {
    const live = ((await this.#counted.get()) ?? 0) - SLACK_HOURS
    const hour = after === null ? live + 1 : hourBelow(after)
    if (hour > live) return { from: startOf(live + 1), next: await this.#nextBelow(workflow, live + 1) }
    // A stretch ends above its hour, so that the hour itself may have nothing to read.
    const isOwn = (await this.#has.get(hour, workflow)) !== undefined
    const own = isOwn ? hour : await this.#newestBelow.get(hour, workflow)
    if (own === undefined) return { from: startOf(hour), next: null }
    return { from: startOf(own), next: await this.#nextBelow(workflow, own) }
  }

  async #nextBelow(workflow: string, hour: number): Promise<string | null> {
    const next = await this.#newestBelow.get(hour, workflow)
    return next === undefined ? null : startOf(next + 1)
  }
}

/** The hour of the newest run below a position. The start of an hour is above all before it. */
function hourBelow(after: string): number {
  const hour = Math.floor(readIdTime(after) / HOUR_MS)
  return after <= startOf(hour) ? hour - 1 : hour
}

function startOf(hour: number): string {
  return firstId('run', hour * HOUR_MS)
}
