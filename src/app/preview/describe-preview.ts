import { wouldDelete } from '../../core/safety/effect.ts'
import { describeUndeclared, type UndeclaredEffect } from '../../engine/pass/outside/undeclared.ts'
import type { Previewed, PreviewedEnd } from '../../engine/preview/previewed.ts'

/** A refused call with its place, such as `connect outside of every step at a.ts:3:9`. */
export function describeRefused(refused: UndeclaredEffect): string {
  const { place } = refused
  return `${describeUndeclared(refused)}${place === null ? '' : ` at ${place}`}`
}

/** An end in words behind `would`, such as `fail`. `why`: as the code or the engine says it. */
export function describeEnd(end: PreviewedEnd): { would: string; why: string | null } {
  switch (end.kind) {
    case 'completed':
      return { would: 'complete', why: null }
    case 'continued':
      return { would: 'go on in another run', why: null }
    case 'failed':
      return { would: 'fail', why: `${end.error.name}: ${end.error.message}` }
    case 'skipped':
      return { would: 'be skipped', why: end.reason }
    case 'halted':
      return { would: 'wait for a person', why: end.reason }
    case 'open':
      return { would: `be open at step "${end.step}"`, why: end.reason }
    default:
      return end satisfies never
  }
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
