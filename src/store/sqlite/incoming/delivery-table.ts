import { newId } from '../../../core/ids.ts'
import type { DeliveryReceipt, IncomingDelivery } from '../../../core/incoming/delivery.ts'
import { FIRST_FENCE } from '../../../core/runs/lease.ts'
import { JoinedTable } from '../../connection.ts'
import { LEFT_OUT } from '../../tables/incoming/delivery-ledger.ts'
import { SecretUses } from '../../tables/incoming/endpoint-table.ts'
import type { UnmatchedTallyTable } from '../../tables/incoming/unmatched-tally.ts'
import { IS_READY } from '../../tables/runs/claim-reader.ts'
import { type EventTable, type SavedEvent, STREAM } from './event-table.ts'

/** Saves deliveries with their events and runs. */
export class DeliveryTable extends JoinedTable<{ events: EventTable; unmatched: UnmatchedTallyTable }> {
  /** A transaction watcher of the group commit. */
  readonly uses: SecretUses = new SecretUses(this.db)
  readonly #insert = this.db.prepare(
    `INSERT INTO delivery (id, endpoint_id, received_at, verdict, event_id, event_seq, body_bytes, facts)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  readonly #insertRun = this.db.prepare('INSERT INTO run (id, workflow, event_seq, created_at) VALUES (?, ?, ?, ?)')
  readonly #queueRun = this.db.prepare(`INSERT INTO work (run_id, workflow, status, rank) VALUES (?, ?, 'pending', ?)`)
  readonly #insertClaimed = this.db.prepare(
    `INSERT INTO work (run_id, workflow, status, rank, started_at, worker, code_hash, fence)
     VALUES (?, ?, 'running', ?, ?, ?, ?, ${FIRST_FENCE})`,
  )
  // A claim would give just this run: nothing is queued or due, and its workflow is not paused.
  // Index: the first rows of work_ready and work_waiting, and the primary key.
  readonly #mayClaim = this.db.pluck<[number, string], number>(`SELECT NOT EXISTS (SELECT 1 FROM work WHERE ${IS_READY})
         AND NOT EXISTS (SELECT 1 FROM work WHERE status = 'waiting' AND due_at IS NOT NULL AND due_at <= ?)
         AND NOT EXISTS (SELECT 1 FROM workflow_pause WHERE workflow = ?)`)

  readonly #leftOut = this.db.prepare<[number]>(LEFT_OUT)

  async save(delivery: IncomingDelivery): Promise<DeliveryReceipt> {
    const saved = await this.parts.events.save(delivery)
    const receipt = await this.#startRuns(saved, delivery)
    const { id, endpointId, receivedAt, event, body, facts } = delivery
    const bodyBytes = Buffer.byteLength(body)
    await this.#insert.run(
      id,
      endpointId,
      receivedAt,
      receipt.verdict,
      event.id,
      saved.seq,
      bodyBytes,
      JSON.stringify(facts),
    )
    if (facts.secret !== undefined) await this.uses.note(endpointId, facts.secret, receivedAt)
    if (facts.unmatched && receipt.verdict === 'accepted') await this.parts.unmatched.note(event.type, receivedAt)
    return receipt
  }

  async #startRuns(saved: SavedEvent, delivery: IncomingDelivery): Promise<DeliveryReceipt> {
    if (saved.kind === 'known') {
      const isLeftOut = saved.isSameBody && (await this.#leftOut.get(saved.seq)) !== undefined
      return { verdict: saved.isSameBody ? 'duplicate' : 'conflict', runs: [], ...(isLeftOut && { isLeftOut }) }
    }
    const { arrivalClaim, workflows, receivedAt } = delivery
    const claim = arrivalClaim && (await this.#mayClaimAll(workflows, receivedAt)) ? arrivalClaim : null
    const runs: string[] = []
    for (const workflow of workflows) {
      const id = newId('run', receivedAt)
      const priority = delivery.priorities?.[workflow] ?? 0
      await this.#insertRun.run(id, workflow, saved.seq, receivedAt)
      if (claim) {
        const codeHash = claim.codeHashes[workflow] ?? null
        await this.#insertClaimed.run(id, workflow, -priority, receivedAt, claim.worker, codeHash)
      } else await this.#queueRun.run(id, workflow, -priority)
      runs.push(id)
    }
    if (claim === null) return { verdict: 'accepted', runs }
    return { verdict: 'accepted', runs, claimedWithEvent: { stream: STREAM, seq: saved.seq } }
  }

  async #mayClaimAll(workflows: readonly string[], now: number): Promise<boolean> {
    for (const workflow of workflows) if ((await this.#mayClaim.get(now, workflow)) !== 1) return false
    return true
  }
}
