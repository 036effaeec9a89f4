import { describeUndeclared, type UndeclaredEffect } from '../../engine/pass/outside/undeclared.ts'

/** A refused call with its place, such as `connect outside of every step at a.ts:3:9`. */
export function describeRefused(refused: UndeclaredEffect): string {
  const { place } = refused
  return `${describeUndeclared(refused)}${place === null ? '' : ` at ${place}`}`
}
