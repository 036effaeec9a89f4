import type { EffectRecord } from '../../../../core/safety/effect.ts'
import { formatBytes, formatMoment, withIsoTimes } from '../../../terminal/format-value.ts'
import type { Column } from '../../../terminal/table.ts'

/** A row of the ledger for JSON: times as text, what was asked for as a value. */
export function describeEffect({ asked, ...row }: EffectRecord): Record<string, unknown> {
  return { ...withIsoTimes(row), asked: asked === null ? null : JSON.parse(asked) }
}

/** The columns of a table of ledger rows. */
export function effectColumns(now: number): Column<EffectRecord>[] {
  return [
    { title: 'SEQ', value: ({ seq }) => seq, align: 'right' },
    { title: 'AT', value: ({ at }) => formatMoment(at, now) },
    { title: 'PHASE', value: ({ phase }) => phase },
    { title: 'WHAT', value: ({ operation }) => operation, most: 40 },
    { title: 'FILE', value: ({ path, target }) => path ?? target, most: 60 },
    { title: 'SIZE', value: ({ bytes }) => formatBytes(bytes), align: 'right' },
    { title: 'OUTCOME', value: ({ outcome }) => outcome, most: 20 },
    { title: 'RUN', value: ({ runId }) => runId },
    { title: 'BY', value: ({ actor, approval, workflow }) => actor ?? approval ?? workflow, most: 40 },
  ]
}
