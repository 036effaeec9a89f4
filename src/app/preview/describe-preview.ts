import { wouldDelete } from '../../core/safety/effect.ts'
import { describeUndeclared, type UndeclaredEffect } from '../../engine/pass/outside/undeclared.ts'
import type { Previewed, PreviewedEnd } from '../../engine/preview/previewed.ts'

/** A refused call with its place, such as `connect outside of every step at a.ts:3:9`. */
export function describeRefused(refused: UndeclaredEffect): string {
  const { place } = refused
  return `${describeUndeclared(refused)}${place === null ? '' : ` at ${place}`}`
}

const WOULD: Record<PreviewedEnd['kind'], string> = {
  completed: 'complete',
  continued: 'go on in another run',
  failed: 'fail',
  skipped: 'be skipped',
  halted: 'wait for a person',
  open: 'be open',
}

/** An end in words behind `would`, such as `be open at step "look"`. */
export function describeEnd({ kind, step }: { kind: PreviewedEnd['kind']; step?: string | null }): string {
  return `${WOULD[kind]}${step == null ? '' : ` at step "${step}"`}`
}

/** The deletes that would happen, with their bytes, and all other effects. */
export function sumEffects(previews: readonly Pick<Previewed, 'effects'>[]): SumOfEffects {
  const effects = previews.flatMap((preview) => preview.effects)
  const deletes = effects.filter(wouldDelete)
  const bytes = deletes.reduce((sum, { asked }) => sum + (asked?.bytes ?? 0), 0)
  const others = effects.filter((each) => each.class !== 'delete').length
  const words = `${count(deletes.length, 'delete')}, ${count(others, 'other effect')}`
  return { deletes: deletes.length, bytes, others, words }
}

interface SumOfEffects {
  deletes: number
  bytes: number
  others: number
  /** Such as `2 deletes, 1 other effect`. */
  words: string
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
