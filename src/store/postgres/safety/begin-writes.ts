import type { Lease } from '../../../core/runs/lease.ts'
import type { EffectAsk } from '../../../core/safety/effect.ts'
import type { AskOptions } from '../../../core/store/effects.ts'
import { Table } from '../../connection.ts'
import { describeState } from '../../tables/safety/effect-table.ts'
import { guardBuckets } from '../../tables/safety/guard-table.ts'
import type { Call } from '../database/calls/call.ts'
import { asJson, bigints, texts } from '../database/calls/column.ts'
import type { Connection } from '../database/connection.ts'

/** A write that begins, and that no limit bounds. */
export interface PlainBegin {
  lease: Lease
  ask: EffectAsk
  options: AskOptions
}

/** `more`: a stop, a person or an earlier pass has a say, and nothing is written. */
export type BeginVerdict = 'granted' | 'more' | 'stale'

/** The beginning of a single write without limits; null for any other. */
export function asPlainBegin(lease: Lease, asks: readonly EffectAsk[], options: AskOptions): PlainBegin | null {
  const [ask, ...others] = asks
  const isPlain = ask?.class === 'write' && ask.limits.length === 0 && others.length === 0
  return isPlain ? { lease, ask, options } : null
}

/** Begins many writes in one call. Which effects limits let begin is decided in `Permits`. */
export class WriteBegins extends Table<Connection> {
  readonly #begin: Call<{ number: number; verdict: BeginVerdict }> = this.db.prepareCall(
    'SELECT number, verdict FROM begin_writes_1(?, ?, ?, ?)',
  )

  async save(begins: readonly PlainBegin[]): Promise<BeginVerdict[]> {
    const rows = await this.#begin.all(
      texts(begins, ({ lease }) => lease.runId),
      bigints(begins, ({ lease }) => lease.fence),
      texts(begins, ({ lease }) => lease.era ?? null),
      asJson(begins.map(describeBegin)),
    )
    const verdicts = new Map(rows.map(({ number, verdict }) => [number, verdict]))
    return begins.map((_, index) => verdicts.get(index + 1) ?? 'stale')
  }
}

function describeBegin({ lease: { runId }, ask, options }: PlainBegin, index: number) {
  const { step, asked, expect = null, operation, workflow, account, storage } = ask
  const { key, position, kind, effect, status, attempt, startedAt, target, dueAt, settled } = step
  const { codeHash, now } = options
  return {
    lease: index + 1,
    now,
    code: codeHash,
    operation,
    account,
    workflow,
    path: asked?.path,
    key,
    position,
    kind,
    effect,
    status,
    attempt,
    started: startedAt,
    target,
    due: dueAt,
    settled,
    error: step.error && JSON.stringify(step.error),
    asked: asked && JSON.stringify(asked),
    bytes: asked?.bytes,
    expect: expect && describeState(expect),
    uses: guardBuckets({ runId, workflow, account, storage }, now),
  }
}
