/** Claims in a row that due runs may fill. */
const MAX_FILLED = 3

/**
 * The share of due runs in the claims of a process. They go before runs that have not begun. Where
 * they fill claim after claim, every fourth one begins with the others. The runs of a service that
 * fails wake again and again, and would else keep all others from beginning.
 */
export class DueShare {
  #filled = 0

  /** True: the next claim begins with runs that are not due. */
  get isUsed(): boolean {
    return this.#filled >= MAX_FILLED
  }

  /** `isFilled`: a claim got due runs alone, as many as it asked for. */
  note(isFilled: boolean): void {
    this.#filled = isFilled ? this.#filled + 1 : 0
  }
}
