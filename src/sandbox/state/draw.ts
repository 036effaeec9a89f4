import { createHash } from 'node:crypto'

/** The n-th number of the generator `name` under `seed`, from 0 to below 1. */
export function draw(seed: number, name: string, n: number): number {
  return createHash('sha256').update(`${seed} ${name} ${n}`).digest().readUInt32BE(0) / 2 ** 32
}
