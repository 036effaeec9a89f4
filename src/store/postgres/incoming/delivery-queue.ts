import { newId } from '../../../core/ids.ts'
import type { DeliveryReceipt, IncomingDelivery } from '../../../core/incoming/delivery.ts'
import { describeStalePlan } from '../../../core/incoming/route.ts'
import { Table } from '../../connection.ts'
import { SecretUses } from '../../tables/incoming/endpoint-table.ts'
import type { Call } from '../database/calls/call.ts'
import { CallQueue } from '../database/calls/call-queue.ts'
import { bigints, booleans, integers, texts, uuids } from '../database/calls/column.ts'
import type { Connection } from '../database/connection.ts'
import { hashBody, identify, streamOf } from './event-table.ts'

/** A delivery with the ids of its runs, which are made once however often it is sent. */
interface PlannedDelivery {
  delivery: IncomingDelivery
  runs: readonly string[]
}

interface SavedRow {
  number: number
  seq: number
  verdict: DeliveryReceipt['verdict']
  isTaken: boolean
  isLeftOut: boolean
  era: string
}

/** The answer to one delivery; null where its plan is stale. */
type Answer = DeliveryReceipt | null

const COLUMNS = 19

/** Saves many deliveries of one stream in one call. */
export class DeliverySaves extends Table<Connection> {
  readonly #uses: SecretUses = new SecretUses(this.db)
  readonly #save: Call<SavedRow> = this.db.prepareCall<SavedRow>(
    `SELECT number, seq, verdict, is_taken, is_left_out, era_1() AS era
     FROM save_deliveries_1(${Array(COLUMNS + 1).fill('?')})`,
  )

  async save(stream: number, planned: readonly PlannedDelivery[]): Promise<Answer[]> {
    const deliveries = planned.map(({ delivery }) => delivery)
    const runs = planned.flatMap(({ delivery, runs }, index) =>
      runs.map((id, at) => describeRun(delivery, { id, at, number: index + 1 })),
    )
    const rows = await this.#save.all(
      stream,
      bigints(deliveries, ({ setup = null }) => setup),
      uuids(deliveries, ({ account, event }) => identify(account, event.id)),
      uuids(deliveries, ({ body }) => hashBody(body)),
      texts(deliveries, ({ event }) => event.id),
      texts(deliveries, ({ account }) => account),
      texts(deliveries, ({ event }) => event.type),
      bigints(deliveries, ({ event }) => Date.parse(event.created)),
      bigints(deliveries, ({ receivedAt }) => receivedAt),
      texts(deliveries, ({ body }) => body),
      texts(deliveries, ({ id }) => id),
      texts(deliveries, ({ endpointId }) => endpointId),
      texts(deliveries, ({ facts }) => JSON.stringify(facts)),
      booleans(deliveries, ({ facts }) => facts.unmatched === true),
      integers(runs, ({ number }) => number),
      texts(runs, ({ id }) => id),
      texts(runs, ({ workflow }) => workflow),
      bigints(runs, ({ rank }) => rank),
      texts(runs, ({ code }) => code),
      deliveries[0]?.arrivalClaim?.worker ?? null,
    )
    for (const { endpointId, facts, receivedAt } of deliveries) {
      if (facts.secret !== undefined) await this.#uses.note(endpointId, facts.secret, receivedAt)
    }
    const byNumber = new Map(rows.map((row) => [row.number, row]))
    return planned.map(({ runs }, index) => readAnswer(byNumber.get(index + 1), runs, stream))
  }
}

function describeRun(
  { workflows, priorities, arrivalClaim }: IncomingDelivery,
  { id, at, number }: { id: string; at: number; number: number },
) {
  const workflow = workflows[at] ?? ''
  return {
    id,
    number,
    workflow,
    rank: -(priorities?.[workflow] ?? 0),
    code: arrivalClaim?.codeHashes[workflow] ?? null,
  }
}

function readAnswer(row: SavedRow | undefined, runs: readonly string[], stream: number): Answer {
  if (row === undefined) return null
  const { verdict, seq, isTaken, isLeftOut, era } = row
  if (verdict !== 'accepted') return { verdict, runs: [], ...(isLeftOut && { isLeftOut }) }
  return { verdict, runs: [...runs], ...(isTaken ? { claimedWithEvent: { stream, seq }, era } : {}) }
}

/** The deliveries of this process, gathered by stream and by whether they claim their runs. */
export class DeliveryQueue {
  readonly #queues = new Map<string, CallQueue<PlannedDelivery, Answer>>()
  readonly #perform: (stream: number, planned: readonly PlannedDelivery[]) => Promise<Answer[]>
  readonly #waited: (ms: number) => void

  constructor(
    perform: (stream: number, planned: readonly PlannedDelivery[]) => Promise<Answer[]>,
    waited: (ms: number) => void,
  ) {
    this.#perform = perform
    this.#waited = waited
  }

  async save(delivery: IncomingDelivery): Promise<DeliveryReceipt> {
    const stream = streamOf(delivery.account)
    const runs = delivery.workflows.map(() => newId('run', delivery.receivedAt))
    const receipt = await this.#queueOf(stream, delivery.arrivalClaim?.worker ?? null).add({ delivery, runs })
    if (receipt === null) throw describeStalePlan(delivery.id)
    return receipt
  }

  #queueOf(stream: number, worker: string | null): CallQueue<PlannedDelivery, Answer> {
    const name = JSON.stringify([stream, worker])
    const known = this.#queues.get(name)
    if (known) return known
    const queue = new CallQueue<PlannedDelivery, Answer>((calls) => this.#perform(stream, calls), this.#waited)
    this.#queues.set(name, queue)
    return queue
  }
}
