import type { DemoStage } from './demo-stage.ts'

export type Print = (line: string) => void

/** Runs a part of the demo, and checks its effects. */
export type Scene = (stage: DemoStage, checks: Checks) => Promise<void>

/** Prints each promise with its result, and counts the broken ones. */
export class Checks {
  readonly #print: Print
  failed = 0

  constructor(print: Print) {
    this.#print = print
  }

  /** A line that tells what happens between two promises. */
  tell(line: string): void {
    this.#print(`   · ${line}`)
  }

  expect(promise: string, isKept: boolean): void {
    this.#print(`   ${isKept ? '✓' : '✗'} ${promise}`)
    if (!isKept) this.failed += 1
  }
}
