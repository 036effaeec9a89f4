import { createHash, type Hash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import { type Descriptors, PAGE_BYTES, pageMemory, readAt } from './page-io.ts'
import type { HashAnswer, HashCall, HashOrder } from './threaded-hash.ts'

/** Bytes per read. Several reads run at a time, so that a fast disk never waits. */
const READ_AT_ONCE_BYTES = 1024 * 1024
const READ_AHEAD = 4

/** Memory for reads, used again by later hashes. */
const idle: Uint8Array[] = []

interface Hashing {
  hash: Hash
  /** Bytes hashed so far. */
  bytes: number
  /** Settles after the last order. After a failed order all later ones fail. */
  turn: Promise<unknown>
  hasEnded: boolean
}

/** By the number that the other thread gave. */
const hashings = new Map<number, Hashing>()

parentPort?.on('message', ({ call, hash, order }: HashCall) => {
  const hashing = hashings.get(hash) ?? (order.kind === 'begin' ? begin(hash) : endedHashing())
  if (order.kind === 'end') hashing.hasEnded = true
  if (order.kind === 'end' || order.kind === 'digest') hashings.delete(hash)
  const turn = hashing.turn.then(() => runOrder(hashing, order))
  hashing.turn = turn
  turn.then(
    (digest) => answer({ call, digest }),
    (error) => answer({ call, digest: '', error: error.message }),
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

/** A hash that has ended, or that an earlier thread kept: every order to it fails. */
function endedHashing(): Hashing {
  const turn = Promise.reject(new Error('this hash has ended'))
  return { hash: createHash('sha256'), bytes: 0, turn, hasEnded: true }
}

/** Resolves to the digest for that order, otherwise to an empty text. */
async function runOrder(hashing: Hashing, order: HashOrder): Promise<string> {
  if (order.kind === 'bytes') addBytes(hashing, order.bytes)
  else if (order.kind === 'file') await readUpTo(hashing, order.file, order.upTo)
  else if (order.kind === 'digest') return hashing.hash.digest('hex')
  return ''
}

function addBytes(hashing: Hashing, bytes: Uint8Array): void {
  hashing.hash.update(bytes)
  hashing.bytes += bytes.byteLength
}

async function readUpTo(hashing: Hashing, file: Descriptors, upTo: number): Promise<void> {
  const memory = Array.from({ length: READ_AHEAD }, () => idle.pop() ?? pageMemory(READ_AT_ONCE_BYTES))
  try {
    for await (const bytes of readPieces(file, { from: hashing.bytes, upTo, memory })) {
      addBytes(hashing, bytes)
      if (hashing.hasEnded) return
    }
  } finally {
    idle.push(...memory.slice(idle.length))
  }
}

/**
 * The bytes from one position to another, read in whole pages. Each piece of memory is read into
 * again when the next piece is requested.
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
      if (end < wanted) throw new Error(`the part has ${end} bytes instead of ${upTo}`)
      yield piece.memory.subarray(Math.max(0, from - piece.at), wanted - piece.at)
      begin(piece.memory)
    }
  } finally {
    await Promise.allSettled(pieces.map(({ read }) => read))
  }
}
