import type { Clock } from '../../core/time.ts'
import { pageMemory } from './page-io.ts'
import type { PartHash } from './part-hash.ts'
import type { UncachedFile } from './uncached-file.ts'

/** Bytes per write: large enough to keep a disk busy. */
const BLOCK_BYTES = 2 * 1024 * 1024

/** Blocks per file: one is filled while the others are hashed and written. */
const BLOCK_COUNT = 4

/** A block that fills slowly is written after this time: a killed process loses no more. */
const MAX_UNWRITTEN_MS = 1_000

/** Memory of finished files, for the next ones. */
const idle: Uint8Array[] = []
const MAX_IDLE = 2

/** One block of the file. Its bytes lie in memory at their offset in the block. */
interface Block {
  memory: Uint8Array
  /** Position of the block's first byte in the file. */
  base: number
  /** The filled part of the block, as offsets in it. */
  from: number
  to: number
}

/**
 * Appends to a file in blocks and hashes them. They are written in order, so a kill leaves no hole;
 * a failure rejects the next call.
 */
export class BlockWriter {
  readonly #file: Pick<UncachedFile, 'write'>
  readonly #hash: Pick<PartHash, 'update'>
  readonly #memory = idle.pop() ?? pageMemory(BLOCK_COUNT * BLOCK_BYTES)
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

  /** Appends from byte `at` on and passes the bytes to `hash`. */
  constructor(
    file: Pick<UncachedFile, 'write'>,
    { hash, at, clock }: { hash: Pick<PartHash, 'update'>; at: number; clock: Clock },
  ) {
    this.#file = file
    this.#hash = hash
    this.#clock = clock
    this.#at = at
    this.#free = Array.from({ length: BLOCK_COUNT }, (_, index) =>
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

  /** Writes the begun block. Resolves when every byte is written and hashed. */
  async drain(): Promise<void> {
    this.#sendBegun()
    await Promise.all(this.#busy)
    this.#throwFailure()
  }

  /** Waits for the running writes, and gives the memory back. A block in progress is lost. */
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
    this.#cancelTimer = this.#clock.at(this.#clock.now() + MAX_UNWRITTEN_MS, () => this.#sendBegun())
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
    this.#writing = this.#writing.then(() => this.#file.write(bytes, base + from))
    const done = Promise.allSettled([this.#writing, this.#hash.update(bytes)]).then((outcomes) => {
      const failed = outcomes.find((outcome) => outcome.status === 'rejected')
      if (failed) this.#failure ??= { error: failed.reason }
      else this.#free.push(memory)
      this.#busy.delete(done)
      this.#wake()
    })
    this.#busy.add(done)
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.error
  }
}
