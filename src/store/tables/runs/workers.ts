import { decideBlame, type Harm, type Recovery, type Suspect, type WorkerEnd } from '../../../core/runs/blame.ts'
import type { RunName } from '../../../core/runs/run.ts'
import { JoinedTable } from '../../connection.ts'
import type { GateTable } from '../gates/gate-table.ts'

type LeasedRun = RunName & Suspect

/** Workers and their leases. Each database tells a dead one in its own way. */
export abstract class Workers extends JoinedTable<{ gates: GateTable }> {
  /** Index: primary keys, and work_leased. */
  readonly #sql = {
    delete: this.db.prepare('DELETE FROM worker WHERE id = ?'),
    dropSet: this.db.prepare('DELETE FROM worker_workflow WHERE worker = ?'),
    leased: this.db.prepare<[string], LeasedRun>(
      `SELECT run_id AS run, workflow, crashes, suspicion FROM work WHERE worker = ? AND status = 'running'
       ORDER BY run_id ${this.db.sql.forUpdate()}`,
    ),
    // The higher fence refuses the writes of a worker that was only slow.
    takeBack: this.db.prepare(
      `UPDATE work SET status = @status, due_at = NULL, worker = NULL, fence = fence + 1, reason = @reason,
         crashes = @crashes, suspicion = @suspicion WHERE run_id = @run`,
    ),
  }

  /** Registers a worker. Its process holds a lock until it ends, however it ends. */
  abstract startWorker(id: string, now: number): Promise<void>
  /** Records that a worker is alive. Also restores a worker that others took for dead. */
  abstract beatWorker(id: string, now: number): Promise<void>
  abstract living(now: number): Promise<string[]>
  /** Ids of the others. Where transactions run beside each other, nobody else buries them. */
  protected abstract dead(now: number, leaseMs: number): Promise<string[]>

  /** Ends the leases of dead workers and blames their runs. */
  async recover(now: number, leaseMs: number): Promise<Recovery> {
    const recovery: Recovery = { count: 0, suspects: [], parked: [] }
    for (const id of await this.dead(now, leaseMs)) await this.#bury(id, 'process', recovery)
    return recovery
  }

  /** The same for one worker whose engine has ended while its process lives on. */
  async endWorker(id: string, harm: Harm | null = null): Promise<Recovery> {
    return this.#bury(id, 'engine', { count: 0, suspects: [], parked: [] }, harm)
  }

  /** Releases a worker's runs and removes it. */
  async stopWorker(id: string): Promise<void> {
    await this.endLeases(id)
    await this.remove(id)
  }

  protected readonly endLeases = this.countChanged<[id: string]>(
    `UPDATE work SET status = 'pending', worker = NULL, fence = fence + 1 WHERE run_id IN (
       SELECT run_id FROM work WHERE worker = ? AND status = 'running' ORDER BY run_id ${this.db.sql.forUpdate()})`,
  )

  protected async remove(id: string): Promise<void> {
    await this.#sql.dropSet.run(id)
    await this.#sql.delete.run(id)
  }

  async #bury(id: string, end: WorkerEnd, recovery: Recovery, harm: Harm | null = null): Promise<Recovery> {
    for (const { run, workflow, kind, reason, ...counts } of decideBlame(await this.#sql.leased.all(id), end, harm)) {
      const status = reason === null ? 'pending' : 'waiting'
      await this.#sql.takeBack.run({ run, ...counts, reason, status })
      recovery.count += 1
      if (reason !== null) await this.parts.gates.sleep(run)
      if (reason !== null) recovery.parked.push({ run, workflow, reason })
      else if (kind === 'isolate') recovery.suspects.push({ run, workflow })
    }
    await this.remove(id)
    return recovery
  }
}
