import { newId } from '../../../core/ids.ts'
import type { DeliveryReceipt, IncomingDelivery } from '../../../core/incoming/delivery.ts'
import { describeStalePlan } from '../../rows/runs/describe-stale.ts'
import { bigintArray, booleanArray, integerArray, textArray, uuidArray } from '../database/binary-array.ts'
import { CallQueue } from '../database/call-queue.ts'
import type { Connection, Statement } from '../database/connection.ts'
import { hashBody, identify, streamOf } from './event-table.ts'
import { SecretUses } from './secret-uses.ts'

/** A delivery with the ids of its runs, which are made once however often it is sent. */
interface PlannedDelivery {
  delivery: IncomingDelivery
  runs: readonly string[]
}

interface SavedRow {
  number: number
  seq: number
  verdict: DeliveryReceipt['verdict']
  is_taken: boolean
  era: string
}

/** The answer to one delivery; null where its plan is stale. */
type Answer = DeliveryReceipt | null

const COLUMNS = 19

/** Saves many deliveries of one stream in one call. */
export class DeliverySaves {
  readonly #save: Statement<unknown[], SavedRow>
  readonly #uses: SecretUses

  constructor(db: Connection) {
    this.#uses = new SecretUses(db)
    this.#save = db.prepare<unknown[], SavedRow>(
      `SELECT number, seq, verdict, is_taken, era_1() AS era FROM save_deliveries_1(${Array(COLUMNS + 1).fill('?')})`,
    )
  }

  async save(stream: number, planned: readonly PlannedDelivery[]): Promise<Answer[]> {
    const deliveries = planned.map(({ delivery }) => delivery)
    const texts = (read: (delivery: IncomingDelivery) => string) => textArray(deliveries.map(read))
    const integers = (read: (delivery: IncomingDelivery) => number | null) => bigintArray(deliveries.map(read))
    const runs = planned.flatMap(({ delivery, runs }, index) =>
      runs.map((id, at) => describeRun(delivery, { id, at, number: index + 1 })),
    )
    const rows = await this.#save.all(
      stream,
      integers(({ setup = null }) => setup),
      uuidArray(deliveries.map(({ account, event }) => identify(account, event.id))),
      uuidArray(deliveries.map(({ body }) => hashBody(body))),
      texts(({ event }) => event.id),
      texts(({ account }) => account),
      texts(({ event }) => event.type),
      integers(({ event }) => Date.parse(event.created)),
      integers(({ receivedAt }) => receivedAt),
      texts(({ body }) => body),
      texts(({ id }) => id),
      texts(({ endpointId }) => endpointId),
      texts(({ facts }) => JSON.stringify(facts)),
      booleanArray(deliveries.map(({ facts }) => facts.unmatched === true)),
      integerArray(runs.map(({ number }) => number)),
      textArray(runs.map(({ id }) => id)),
      textArray(runs.map(({ workflow }) => workflow)),
      bigintArray(runs.map(({ rank }) => rank)),
      textArray(runs.map(({ code }) => code)),
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
  const { verdict, seq, is_taken, era } = row
  if (verdict !== 'accepted') return { verdict, runs: [] }
  return { verdict, runs: [...runs], ...(is_taken ? { claimedWithEvent: { stream, seq }, era } : {}) }
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
