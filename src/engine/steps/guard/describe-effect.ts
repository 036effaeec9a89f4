import { maskTokens } from '../../../core/incoming/hook.ts'
import type { JsonValue } from '../../../core/json.ts'
import { type Checkpoint, toStorable } from '../../../core/runs/step.ts'
import type { SavedWithStep } from '../../../core/runs/wait.ts'
import { type Asked, completeState } from '../../../core/safety/effect.ts'
import type { Pass } from '../../pass/pass.ts'
import type { StubbedEffect } from '../../pass/step-stub.ts'
import type { EffectFacts } from './ask-guard.ts'

/** The options of a step that tell what its effect is. */
interface Described {
  input?: JsonValue
  facts?: EffectFacts
  once?: boolean
  keep?: boolean
  dry?: () => unknown
}

export function describeTarget({ target }: { target?: string }): string | null {
  return target === undefined ? null : toStorable(target)
}

export function describeInput({ input }: Pick<Described, 'input'>): Asked | null {
  return input === undefined ? null : { path: null, bytes: null, modifiedAt: null, input: showInput(input) }
}

/** The content of an effect as people may see it: no URL of a hook in it can be used. */
function showInput(input: JsonValue): JsonValue {
  return JSON.parse(maskTokens(JSON.stringify(input)))
}

/** The effect of a step, as a stub is told of it. */
export function describeEffect(options: Described): StubbedEffect {
  const { facts, once = false, keep = true, dry } = options
  const asked = facts ? completeState(facts.asked, facts.expect ?? null) : describeInput(options)
  return {
    asked,
    expect: facts?.expect ?? null,
    listed: facts?.listedAbove?.(asked?.path ?? null) ?? [],
    ...(facts?.look && { look: facts.look }),
    isFolderAllowed: facts?.isFolderAllowed ?? false,
    ...(facts?.list && { list: facts.list }),
    isOnce: once,
    isKept: keep,
    ...(dry && { dry }),
  }
}

/** True where only the setting `ledger` gives a write its row. */
export function isUntargeted({ guard }: Pass, { effect, target }: Checkpoint): boolean {
  return guard.ledger === 'all' && effect === 'write' && target === null
}

/** The parts that most steps do not have; undefined without any. */
export function describeSaved(
  { input, facts }: Described,
  { isAsked, isUntargeted, packed }: { isAsked: boolean; isUntargeted: boolean; packed?: Uint8Array | undefined },
): SavedWithStep | undefined {
  const isInLedger = isAsked || isUntargeted || input !== undefined
  if (!isInLedger && packed === undefined) return undefined
  const seen = facts?.before?.() ?? null
  const before = seen && JSON.stringify(seen)
  const effect = {
    input: input === undefined ? null : JSON.stringify({ input: showInput(input) }),
    before,
    ...(isUntargeted && { isUntargeted }),
  }
  return { ...(isInLedger && { effect }), ...(packed && { packed }) }
}
