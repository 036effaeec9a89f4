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
  source: { workflow: string; account: string; storage: string | null },
): boolean {
  return kind === 'all' || source[kind] === name
}

/** A stop's scope in words, such as `all effects` or `effects of the workflow tidy`. */
export function describeScope({ kind, name }: StopScope): string {
  return kind === 'all' ? 'all effects' : `effects of the ${kind} ${name}`
}
