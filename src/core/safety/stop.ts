/** The part of all effects that a stop covers. */
export interface StopScope {
  kind: 'all' | 'workflow' | 'account' | 'storage'
  /** Id of the workflow, name of the account or storage; empty for `all`. */
  name: string
}

/** A stop in force: no delete and no `once` step begins that it covers. */
export interface EffectStop extends StopScope {
  /** Epoch milliseconds. */
  since: number
  actor: string
  reason: string
}

/** True where a stop holds an effect of this source. */
export function coversEffect(
  { kind, name }: StopScope,
  source: { workflow: string | null; account: string | null; storage: string | null },
): boolean {
  return kind === 'all' || source[kind] === name
}

/** A stop's scope in words, such as `all effects` or `effects of the workflow tidy`. */
export function describeScope({ kind, name }: StopScope): string {
  return kind === 'all' ? 'all effects' : `effects of the ${kind} ${name}`
}

export function scopeOf(text: string): StopScope {
  const [, kind = 'all', name = ''] = /^effects of the (workflow|account|storage) (.*)$/s.exec(text) ?? []
  return { kind: kind as StopScope['kind'], name }
}

/** `live`: workflows act. `plan`: their runs are only planned, and nothing acts. */
export const EFFECTS_MODES = ['live', 'plan'] as const
export type EffectsMode = (typeof EFFECTS_MODES)[number]

/** A change of the mode of a database. */
export interface EffectsSwitch {
  /** Epoch milliseconds. */
  at: number
  to: EffectsMode
  /** Host of the process that made it. */
  from: string
}

/** The mode at a moment; `switches`: oldest first. Before the first of them, effects were live. */
export function modeAt(switches: readonly EffectsSwitch[], at: number): EffectsMode {
  return switches.findLast((each) => each.at <= at)?.to ?? 'live'
}

export function presentMode(switches: readonly EffectsSwitch[]): EffectsMode {
  return switches.at(-1)?.to ?? 'live'
}
