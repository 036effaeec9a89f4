import { createHash, type Hash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import { type Descriptors, PAGE_BYTES, pageMemory, readAt } from './page-io.ts'
import type { HashAnswer, HashCall, HashOrder } from './threaded-hash.ts'

/**
 * One read of a file; so many of them are on their way at a time, or a fast disk would wait for us.
 */
const READ_AT_ONCE_BYTES = 1024 * 1024
const READ_AHEAD = 4

/** Memory that was read into, to be used again. */
const idle: Uint8Array[] = []

interface Hashing {
  hash: Hash
  /** Bytes taken in. */
  bytes: number
  /** Settles after the last order so far; once one has failed, so do all that follow. */
  turn: Promise<unknown>
  hasEnded: boolean
}

const hashings = new Map<number, Hashing>()

parentPort?.on('message', ({ call, hash, order }: HashCall) => {
  const hashing = hashings.get(hash) ?? (order.kind === 'begin' ? begin(hash) : lost())
  if (order.kind === 'end') hashing.hasEnded = true
  if (order.kind === 'end' || order.kind === 'digest') hashings.delete(hash)
  const turn = hashing.turn.then(() => carryOut(hashing, order))
  hashing.turn = turn
  turn.then(
    (digest) => answer({ call, bytes: hashing.bytes, digest }),
    (error) => answer({ call, bytes: hashing.bytes, digest: '', error: error.message }),
  )
})

function answer(message: HashAnswer): void {
  parentPort?.postMessage(message)
}

function begin(hash: number): Hashing {
  const hashing = { hash: createHash('sha256'), bytes: 0, turn: Promise.resolve(), hasEnded: false }
  hashings.set(hash, hashing)
  return hashing
}

/** A hash of a thread that has ended, or that has ended itself. */
function lost(): Hashing {
  const turn = Promise.reject(new Error('nothing is known any more of this hash'))
  return { hash: createHash('sha256'), bytes: 0, turn, hasEnded: true }
}

/** Resolves to the digest, where that is what was ordered. */
async function carryOut(hashing: Hashing, order: HashOrder): Promise<string> {
  if (order.kind === 'bytes') takeIn(hashing, order.bytes)
  else if (order.kind === 'file') await readUpTo(hashing, order.file, order.upTo)
  else if (order.kind === 'digest') return hashing.hash.digest('hex')
  return ''
}

function takeIn(hashing: Hashing, bytes: Uint8Array): void {
  hashing.hash.update(bytes)
  hashing.bytes += bytes.byteLength
}

async function readUpTo(hashing: Hashing, file: Descriptors, upTo: number): Promise<void> {
  const memory = Array.from({ length: READ_AHEAD }, () => idle.pop() ?? pageMemory(READ_AT_ONCE_BYTES))
  try {
    for await (const bytes of readPieces(file, { from: hashing.bytes, upTo, memory })) {
      takeIn(hashing, bytes)
      if (hashing.hasEnded) return
    }
  } finally {
    idle.push(...memory.slice(idle.length))
  }
}

/**
 * The bytes from one position to another, read in whole pages. While one piece of memory is being
 * looked at the others are on their way from the disk; it is read into again when the next is asked
 * for.
 */
async function* readPieces(
  file: Descriptors,
  { from, upTo, memory }: { from: number; upTo: number; memory: readonly Uint8Array[] },
): AsyncGenerator<Uint8Array> {
  const pieces: { at: number; memory: Uint8Array; read: Promise<number> }[] = []
  let ahead = from - (from % PAGE_BYTES)
  const begin = (memory: Uint8Array) => {
    if (ahead < upTo) pieces.push({ at: ahead, memory, read: readAt(file, memory, ahead) })
    ahead += memory.byteLength
  }
  try {
    for (const each of memory) begin(each)
    for (let piece = pieces[0]; piece !== undefined; piece = pieces[0]) {
      const end = piece.at + (await piece.read)
      pieces.shift()
      const wanted = Math.min(piece.at + piece.memory.byteLength, upTo)
      if (end < wanted) throw new Error(`the part has ${end} bytes, and was to have ${upTo}`)
      yield piece.memory.subarray(Math.max(0, from - piece.at), wanted - piece.at)
      begin(piece.memory)
    }
  } finally {
    await Promise.allSettled(pieces.map(({ read }) => read))
  }
}
