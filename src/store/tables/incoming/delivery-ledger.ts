import { firstId } from '../../../core/ids.ts'
import type { DeliveryFacts, DeliveryQuery, DeliveryRecord, Verdict } from '../../../core/incoming/delivery.ts'
import type { EventRecord } from '../../../core/incoming/event.ts'
import { JoinedTable } from '../../connection.ts'
import type { Dialect } from '../../dialect.ts'
import { buildWhere, type Condition, given } from '../../rows/build-where.ts'
import { prepareIds } from '../prepare-ids.ts'
import type { Events } from './events.ts'

type DeliveryRow = Omit<DeliveryRecord, 'facts'> & { facts: string }

const COLUMNS = 'id, endpoint_id, received_at, verdict, event_id, body_bytes, facts'

/** The first delivery of an event whose type its endpoint left out. Index: delivery_repeat. */
export const LEFT_OUT = `SELECT id, facts FROM delivery WHERE event_seq = ? AND verdict = 'accepted'
  AND facts LIKE '%"leftOut":true%'`

function readDelivery(row: DeliveryRow): DeliveryRecord {
  return { ...row, facts: JSON.parse(row.facts) }
}

/** The read side of the delivery ledger. Ids sort by time, so the primary key is a time index. */
export class DeliveryLedger extends JoinedTable<{ events: Events }> {
  /** Ids that begin so, oldest first. */
  readonly listDeliveryIds = prepareIds(this.db, 'delivery')
  // Index: primary key.
  readonly #find = this.db.prepare<[string], DeliveryRow & { seq: number | null }>(
    `SELECT ${COLUMNS}, event_seq AS seq FROM delivery WHERE id = ?`,
  )
  // Index: primary key, within the event's millisecond, for the first delivery; delivery_repeat
  // for the others.
  readonly #ofEvent = this.db.prepare<[{ seq: number; from: string; to: string; limit: number }], DeliveryRow>(
    `SELECT ${COLUMNS} FROM delivery WHERE id >= @from AND id < @to AND event_seq = @seq AND verdict = 'accepted'
     UNION ALL
     SELECT ${COLUMNS} FROM delivery WHERE event_seq = @seq AND verdict IN ('duplicate', 'conflict')
     ORDER BY id DESC LIMIT @limit`,
  )
  readonly #leftOut = this.db.prepare<[number], { id: string; facts: string }>(LEFT_OUT)
  // Index: primary key.
  readonly #setFacts = this.db.prepare<[facts: string, id: string, before: string]>(
    'UPDATE delivery SET facts = ? WHERE id = ? AND facts = ?',
  )
  // Index: primary key, from the first delivery since the moment.
  readonly #count = this.db.prepare<[string, string], { verdict: Verdict; count: number }>(
    'SELECT verdict, count(*) AS count FROM delivery WHERE id >= ? AND endpoint_id = ? GROUP BY verdict',
  )

  /** Newest first. */
  async listDeliveries({ limit, ...filter }: DeliveryQuery): Promise<DeliveryRecord[]> {
    const { index, conditions } = describeFilter(filter, this.db.sql)
    const { where, values } = buildWhere(conditions)
    const rows = this.db.prepare<unknown[], DeliveryRow>(
      `SELECT ${COLUMNS} FROM delivery ${this.db.sql.along(index)} ${where} ORDER BY id DESC LIMIT ?`,
    )
    return (await rows.all(...values, limit)).map(readDelivery)
  }

  /**
   * A delivery and its event; the event is null for a refusal, and after its row is gone. Null for
   * an unknown id.
   */
  async findDelivery(id: string): Promise<{ delivery: DeliveryRecord; event: EventRecord | null } | null> {
    const row = await this.#find.get(id)
    if (!row) return null
    const { seq, ...delivery } = row
    return { delivery: readDelivery(delivery), event: seq === null ? null : await this.parts.events.find(seq) }
  }

  /** All deliveries of an event, duplicates included; newest first. */
  async listDeliveriesOf(
    { id, account }: Pick<EventRecord, 'id' | 'account'>,
    limit: number,
  ): Promise<DeliveryRecord[]> {
    const event = await this.parts.events.findIn(account, id)
    if (!event) return []
    return (await this.#ofEvent.all({ ...firstIdsOf(event), limit })).map(readDelivery)
  }

  /** Takes the mark from an event that an endpoint left out. False where it has none any more. */
  async takeLeftOut({ seq }: Pick<EventRecord, 'seq'>): Promise<boolean> {
    const first = await this.#leftOut.get(seq)
    if (!first) return false
    const { leftOut: _, ...facts }: DeliveryFacts = JSON.parse(first.facts)
    return (await this.#setFacts.run(JSON.stringify(facts), first.id, first.facts)).changes === 1
  }

  /** Deliveries of an endpoint by verdict since a moment. Reads every row of that time. */
  async countDeliveries(endpointId: string, since: number): Promise<Partial<Record<Verdict, number>>> {
    const rows = await this.#count.all(firstId('dlv', since), endpointId)
    return Object.fromEntries(rows.map(({ verdict, count }) => [verdict, count]))
  }
}

/** Between these ids is the first delivery of an event. */
function firstIdsOf({ seq, receivedAt }: Pick<EventRecord, 'seq' | 'receivedAt'>) {
  return { seq, from: firstId('dlv', receivedAt), to: firstId('dlv', receivedAt + 1) }
}

/** Rows along an index of SQLite, or along the primary key. */
interface Path {
  index: 'delivery_conflict' | 'delivery_refused' | null
  conditions: Condition[]
}

function describeFilter({ verdicts, endpointId, since, before }: Omit<DeliveryQuery, 'limit'>, sql: Dialect): Path {
  const { index, conditions } = describeVerdicts(verdicts, sql)
  if (since !== undefined) conditions.push(['id >= ?', firstId('dlv', since)])
  conditions.push(...given({ 'id < ?': before, 'endpoint_id = ?': endpointId }))
  return { index, conditions }
}

function describeVerdicts(verdicts: readonly Verdict[] | undefined, sql: Dialect): Path {
  if (verdicts === undefined) return { index: null, conditions: [] }
  const [only, ...others] = verdicts
  if (only === undefined || others.length > 0)
    return { index: null, conditions: [[sql.isOneOf('verdict', 'text'), verdicts]] }
  if (only === 'conflict') return { index: 'delivery_conflict', conditions: [[`verdict = 'conflict'`]] }
  if (only === 'accepted' || only === 'duplicate') return { index: null, conditions: [['verdict = ?', only]] }
  return { index: 'delivery_refused', conditions: [['event_id IS NULL AND verdict = ?', only]] }
}
