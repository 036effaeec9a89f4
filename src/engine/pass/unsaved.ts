import { silence } from '../../core/thenable.ts'
import { quietly } from './own-work.ts'

/**
 * Most writes of one pass that are under way at a time. The store commits what has come by then, so
 * that more would hold up the writes of all others.
 */
const MAX_UNDER_WAY = 64

/** The writes of a pass that are not on disk yet. */
export class Unsaved {
  #underWay = 0
  /** Writes that wait until others are on disk. */
  #waiting: (() => void)[] = []
  #failure: { error: unknown } | null = null
  #barrier: PromiseWithResolvers<void> | null = null
  #sent: PromiseWithResolvers<void> | null = null
  readonly #failed: ((error: unknown) => void) | undefined

  /** `failed` hears of each write that fails. */
  constructor(failed?: (error: unknown) => void) {
    this.#failed = failed
  }

  /** True once a write has failed. Nothing may begin then. */
  get hasFailed(): boolean {
    return this.#failure !== null
  }

  /** True where another write would have to wait. */
  get isFull(): boolean {
    return this.#underWay >= MAX_UNDER_WAY || this.#waiting.length > 0
  }

  /** Makes a write after those before it. Resolves with its answer. */
  write<T>(call: () => Promise<T>): Promise<T> {
    if (!this.isFull) return this.#begin(call)
    return silence(new Promise((resolve) => this.#waiting.push(() => resolve(this.#begin(call)))))
  }

  /**
   * Resolves when every write so far is on disk, rejects if one of them failed. Null where all are
   * on disk already.
   */
  barrier(): Promise<void> | null {
    if (this.#failure) return Promise.reject(this.#failure.error)
    if (this.#underWay === 0) return null
    this.#barrier ??= Promise.withResolvers()
    return this.#barrier.promise
  }

  /** Resolves when every write is under way. Null where all are already. */
  sent(): Promise<void> | null {
    if (this.#waiting.length === 0) return null
    this.#sent ??= Promise.withResolvers()
    return this.#sent.promise
  }

  /** A write beside these has failed. */
  fail(error: unknown): void {
    this.#failure ??= { error }
    this.#failed?.(error)
    this.#barrier?.reject(this.#failure.error)
    this.#barrier = null
  }

  #begin<T>(call: () => Promise<T>): Promise<T> {
    this.#underWay += 1
    const saved = quietly(call)
    saved.then(
      () => this.#end(),
      (error: unknown) => {
        this.fail(error)
        this.#end()
      },
    )
    return saved
  }

  #end(): void {
    this.#underWay -= 1
    if (this.#underWay === 0) this.#beginWaiting()
    if (this.#underWay > 0) return
    this.#barrier?.resolve()
    this.#barrier = null
  }

  #beginWaiting(): void {
    for (const begin of this.#waiting.splice(0, MAX_UNDER_WAY)) begin()
    if (this.#waiting.length > 0) return
    this.#sent?.resolve()
    this.#sent = null
  }
}
