import { InvalidArgumentError } from 'commander'

/** Reads an option that counts: a whole number from 1 to `most`. */
export function countUpTo(most: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,9}$/.test(text) ? Number(text) : 0
    if (count >= 1 && count <= most) return count
    throw new InvalidArgumentError(`It is a whole number from 1 to ${most}.`)
  }
}

/** Gathers an option that may be given several times. */
export function gather(text: string, before: string[]): string[] {
  return [...before, text]
}
