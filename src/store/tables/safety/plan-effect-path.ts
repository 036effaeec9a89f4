import type { EffectRecord } from '../../../core/safety/effect.ts'
import type { EffectFilter } from '../../../core/store/safety/effects.ts'
import type { Condition } from '../../rows/build-where.ts'

/** How ledger rows are found newest first: along one index, in the order of their moments. */
interface EffectPath {
  index: 'effect_target' | 'effect_path' | 'effect_run' | 'effect_workflow' | 'effect_at'
  /** Conditions that the index answers: rows outside them are not read. */
  along: Condition[]
  /** The parts of the filter that are compared with each row read. */
  rest: EffectFilter
}

/** The indexes by the part of the filter that they answer, the narrowest first. */
const INDEXES = [
  ['target', 'effect_target', 'target = ?'],
  ['path', 'effect_path', 'path = ?'],
  ['runId', 'effect_run', 'run_id = ?'],
  ['workflow', 'effect_workflow', 'workflow = ?'],
] as const satisfies readonly [keyof EffectFilter, EffectPath['index'], string][]

/** The shortest way to the rows of a filter. */
export function planEffectPath({ since, until, ...filter }: EffectFilter): EffectPath {
  const span: Condition[] = [
    ...(since === undefined ? [] : [['at >= ?', since] as const]),
    ...(until === undefined ? [] : [['at < ?', until] as const]),
  ]
  const found = INDEXES.find(([name]) => filter[name] !== undefined)
  if (found === undefined) return { index: 'effect_at', along: span, rest: filter }
  const [name, index, condition] = found
  return { index, along: [[condition, filter[name]], ...span], rest: { ...filter, [name]: undefined } }
}

/** A row in the order of moments. */
export type EffectPosition = Pick<EffectRecord, 'at' | 'seq'>

/** The rows before, from or after a position, in that order. */
export function atPosition(order: '<' | '>=' | '>', { at, seq }: EffectPosition): Condition {
  return [`(at, seq) ${order} (?, ?)`, at, seq]
}

export function writePosition({ at, seq }: EffectPosition): string {
  return `${at}_${seq}`
}

export function readPosition(text: string): EffectPosition {
  const [at = 0, seq = 0] = text.split('_').map(Number)
  return { at, seq }
}
