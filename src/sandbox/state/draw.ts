import { createHash } from 'node:crypto'

/**
 * A number from 0 up to 1 that follows from its arguments alone: the n-th draw of the generator
 * `name` under `seed`.
 */
export function draw(seed: number, name: string, n: number): number {
  return createHash('sha256').update(`${seed} ${name} ${n}`).digest().readUInt32BE(0) / 2 ** 32
}
