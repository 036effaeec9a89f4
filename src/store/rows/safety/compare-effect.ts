import type { EffectFilter } from '../../../core/store/safety/effects.ts'
import type { Condition } from '../build-where.ts'

/** The columns that a filter compares, by its parts. */
const COMPARED = {
  ...{ target: 'target', path: 'path', runId: 'run_id', workflow: 'workflow' },
  ...{ account: 'account', class: 'class', outcome: 'outcome' },
} as const satisfies Partial<Record<keyof EffectFilter, string>>

/** The conditions of a filter on effects. `inPhases`: how the store asks for one of several. */
export function compareEffect(
  { phases, since, until, ...columns }: EffectFilter,
  inPhases: (phases: readonly string[]) => Condition,
): Condition[] {
  const conditions: Condition[] = phases === undefined ? [] : [inPhases(phases)]
  for (const [name, value] of Object.entries(columns)) {
    if (value !== undefined) conditions.push([`${COMPARED[name as keyof typeof columns]} = ?`, value])
  }
  if (since !== undefined) conditions.push(['at >= ?', since])
  if (until !== undefined) conditions.push(['at < ?', until])
  return conditions
}
