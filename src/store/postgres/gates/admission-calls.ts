import type { AdmissionAnswer, AdmissionPlan, AdmissionVerdict } from '../../../core/runs/admission.ts'
import type { Lease } from '../../../core/runs/lease.ts'
import { Table } from '../../connection.ts'
import type { Call } from '../database/calls/call.ts'
import { asJson, bigints, texts } from '../database/calls/column.ts'
import type { Connection } from '../database/connection.ts'

/** A claimed run at gates that count unfinished runs. */
export interface PlainAdmission {
  lease: Lease
  plan: AdmissionPlan
  now: number
  /** By which an admission whose answer was lost is found again. */
  call: number
}

interface AnswerRow {
  number: number
  verdict: 'admitted' | 'ready' | 'queued' | 'more' | 'stale'
  dueAt: number | null
  reason: string | null
  startedAt: number | null
  folded: number | null
}

/** `more`: `Admission` decides, and nothing is written. */
export type PlainAnswer = AdmissionAnswer | 'more' | 'stale'

/** True for an admission that needs no more than slots. */
export function isPlainAdmission(plan: AdmissionPlan, now: number): boolean {
  const { hasStarted, startBy, fold, gates, tags } = plan
  if (tags) return false
  const isFirst = !hasStarted && (fold !== null || (startBy !== null && now >= startBy))
  return !isFirst && gates.length > 0 && gates.every(({ name }) => name.startsWith('concurrency'))
}

/** Takes many claimed runs to their gates in one call. */
export class AdmissionCalls extends Table<Connection> {
  readonly #admit: Call<AnswerRow> = this.db.prepareCall('SELECT * FROM admit_runs_1(?, ?, ?, ?, ?)')

  async save(admissions: readonly PlainAdmission[]): Promise<PlainAnswer[]> {
    const rows = await this.#admit.all(
      texts(admissions, ({ lease }) => lease.runId),
      bigints(admissions, ({ lease }) => lease.fence),
      texts(admissions, ({ lease }) => lease.era ?? null),
      texts(admissions, ({ lease }) => lease.worker),
      asJson(admissions.map(describePlan)),
    )
    const answers = new Map(rows.map((row) => [row.number, readAnswer(row)]))
    return admissions.map((_, index) => answers.get(index + 1) ?? 'stale')
  }
}

function describePlan({ plan, now, call }: PlainAdmission, index: number) {
  const { gates, priority, hasStarted, mayStart, wakeAt } = plan
  const facts = { gates: JSON.stringify(gates), rank: -priority, hasStarted, mayStart, wakeAt, now }
  return { number: index + 1, call, ...facts }
}

function readAnswer({ verdict, dueAt, reason, startedAt, folded }: AnswerRow): PlainAnswer {
  const answer = (given: AdmissionVerdict) => ({ verdict: given, canceled: [] })
  if (verdict === 'admitted') return answer({ kind: verdict, startedAt: startedAt ?? 0, folded: folded ?? 0 })
  if (verdict === 'queued') return answer({ kind: verdict, dueAt, reason: reason ?? '' })
  return verdict === 'ready' ? answer({ kind: verdict }) : verdict
}
