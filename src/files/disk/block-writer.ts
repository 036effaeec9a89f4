import type { Clock } from '../../core/time.ts'
import { pageMemory } from './page-io.ts'
import type { PartHash } from './part-hash.ts'
import type { UncachedFile } from './uncached-file.ts'

/** Written at once: large enough that a disk is busy with one of them. */
const BLOCK_BYTES = 2 * 1024 * 1024

/** Of one file: one is filled while the others are hashed and written. */
const BLOCKS = 4

/**
 * However slowly a block fills, what came is written by then: a process that is killed loses no
 * more than that.
 */
const WRITTEN_WITHIN_MS = 1_000

/** Memory of files that are done, to be used again. */
const idle: Uint8Array[] = []
const MAX_IDLE = 2

/** Bytes of one block of the file, at the place in memory that they have in it. */
interface Block {
  memory: Uint8Array
  /** Position in the file of the block's first byte. */
  base: number
  from: number
  to: number
}

/**
 * Appends to a file in blocks, which are written one after the other, so that a process that is
 * killed leaves no hole, and hashed meanwhile. A failure shows at the next call.
 */
export class BlockWriter {
  readonly #file: Pick<UncachedFile, 'write'>
  readonly #hash: Pick<PartHash, 'update' | 'reach'>
  readonly #memory = idle.pop() ?? pageMemory(BLOCKS * BLOCK_BYTES)
  readonly #free: Uint8Array[]
  readonly #clock: Clock
  #block: Block | null = null
  #cancelTimer: () => void = () => {}
  #at: number
  #writing: Promise<void> = Promise.resolve()
  readonly #busy = new Set<Promise<void>>()
  #wake: () => void = () => {}
  #failure: { error: unknown } | null = null
  #isClosed = false

  /** The file has `at` bytes, and `hash` is to be told of what follows. */
  constructor(
    file: Pick<UncachedFile, 'write'>,
    { hash, at, clock }: { hash: Pick<PartHash, 'update' | 'reach'>; at: number; clock: Clock },
  ) {
    this.#file = file
    this.#hash = hash
    this.#clock = clock
    this.#at = at
    this.#free = Array.from({ length: BLOCKS }, (_, index) =>
      this.#memory.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES),
    )
  }

  /** Copies the bytes; resolves as soon as more may come. */
  async append(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.byteLength; ) {
      const block = this.#block ?? (await this.#beginBlock())
      const piece = bytes.subarray(done, done + BLOCK_BYTES - block.to)
      block.memory.set(piece, block.to)
      block.to += piece.byteLength
      done += piece.byteLength
      if (block.to === BLOCK_BYTES) this.#send(block)
    }
  }

  /**
   * Resolves when everything has been handed to the system, and nobody reads this memory any more.
   */
  async drain(): Promise<void> {
    this.#sendBegun()
    await Promise.all(this.#busy)
    this.#throwFailure()
  }

  /**
   * Waits for what goes on, and gives the memory back. What is not in a whole block yet is lost
   * unless it was drained.
   */
  async close(): Promise<void> {
    this.#cancelTimer()
    await Promise.all(this.#busy)
    if (!this.#isClosed && idle.length < MAX_IDLE) idle.push(this.#memory)
    this.#isClosed = true
  }

  async #beginBlock(): Promise<Block> {
    const memory = await this.#freeMemory()
    const from = this.#at % BLOCK_BYTES
    const block = { memory, base: this.#at - from, from, to: from }
    this.#block = block
    this.#cancelTimer = this.#clock.at(this.#clock.now() + WRITTEN_WITHIN_MS, () => this.#sendBegun())
    return block
  }

  async #freeMemory(): Promise<Uint8Array> {
    for (;;) {
      this.#throwFailure()
      const memory = this.#free.pop()
      if (memory !== undefined) return memory
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  #sendBegun(): void {
    if (this.#block !== null) this.#send(this.#block)
  }

  #send({ memory, base, from, to }: Block): void {
    const bytes = memory.subarray(from, to)
    this.#cancelTimer()
    this.#block = null
    this.#at = base + to
    this.#writing = this.#writing.then(() => this.#write(bytes, base + from))
    const done = Promise.allSettled([this.#writing, this.#hash.update(bytes)]).then((outcomes) => {
      const failed = outcomes.find((outcome) => outcome.status === 'rejected')
      if (failed) this.#failure ??= { error: failed.reason }
      else this.#free.push(memory)
      this.#busy.delete(done)
      this.#wake()
    })
    this.#busy.add(done)
  }

  async #write(bytes: Uint8Array, at: number): Promise<void> {
    await this.#file.write(bytes, at)
    this.#hash.reach(at + bytes.byteLength)
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.error
  }
}
