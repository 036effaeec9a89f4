import type { EventRecord } from '../../../core/incoming/event.ts'
import type { ClaimedRun, Recording, RunCause } from '../../../core/runs/claim.ts'
import { DEFAULT_ACCOUNT } from '../../../core/service/account.ts'
import type { Connection } from '../../connection.ts'
import { type ClaimRow, claimColumns, readClaim } from '../../rows/runs/claim-row.ts'
import { type Events, requireEvent } from '../incoming/events.ts'
import type { TickTable } from '../schedules/tick-table.ts'
import { prepareFindRoot } from './find-root.ts'
import type { RunTable } from './run-table.ts'
import type { StepTable } from './step-table.ts'

/** Reads the rows of claimed runs, with what made each. Index: primary keys. */
export class ClaimReader {
  readonly #events: Events
  readonly #ticks: TickTable
  readonly #asClaimed
  readonly #findRoot

  constructor(db: Connection, { events, ticks }: { events: Events; ticks: TickTable }) {
    this.#events = events
    this.#ticks = ticks
    this.#findRoot = prepareFindRoot(db)
    this.#asClaimed = db.prepare<[string[]], ClaimRow>(
      `SELECT ${claimColumns(db.sql)} FROM full_run AS run WHERE ${db.sql.isOneOf('run.id', 'text')}`,
    )
  }

  /** Runs as a claim would give them. A run without a start begins at its making. */
  async readAsClaimed(runIds: readonly string[]): Promise<ClaimedRun[]> {
    const rows = await this.#asClaimed.all([...runIds])
    return this.read(rows, (row) => ({ worker: '', now: row.created_at }))
  }

  async read<Row extends ClaimRow>(
    rows: readonly Row[],
    facts: (row: Row) => { worker: string; now: number },
  ): Promise<ClaimedRun[]> {
    const seqs = rows.flatMap(({ event_seq }) => event_seq ?? [])
    const events = seqs.length === 0 ? new Map() : await this.#events.getAll(seqs)
    return Array.fromAsync(rows, async (row) => readClaim(row, await this.#readCause(row, events), facts(row)))
  }

  async #readCause(row: ClaimRow, events: ReadonlyMap<number, EventRecord>): Promise<RunCause> {
    if (row.event_seq !== null) return { kind: 'event', event: requireEvent(events.get(row.event_seq), row.event_seq) }
    const account = row.account ?? DEFAULT_ACCOUNT
    const tick = row.tick_at === null ? null : await this.#ticks.get(row.schedule ?? row.workflow, row.tick_at, account)
    if (row.input !== null) {
      const root = await this.#findRoot(row.id, row.workflow)
      const call = { kind: 'call', account, input: row.input, parentRun: row.parent_run ?? '', root } as const
      return tick === null ? call : { ...call, tick }
    }
    return { kind: 'tick', account, ...(tick ?? { scheduledFor: 0, lastRunAt: null, missed: 0 }) }
  }
}

/** Runs with their journals, in the order of the ids. */
export async function readRecordings(
  { runs, claimReader, steps }: { runs: RunTable; claimReader: ClaimReader; steps: StepTable },
  runIds: readonly string[],
): Promise<Recording[]> {
  const claimed = new Map((await claimReader.readAsClaimed(runIds)).map((claim) => [claim.lease.runId, claim]))
  const found = await Array.fromAsync(runIds, async (id): Promise<Recording[]> => {
    const claim = claimed.get(id)
    const run = claim ? await runs.find(id) : null
    return claim && run ? [{ run, claim, steps: await steps.list(id) }] : []
  })
  return found.flat()
}
