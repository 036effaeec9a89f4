import { createHash, type Hash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import { type Descriptors, pageMemory, readAt } from './page-io.ts'
import type { HashAnswer, HashCall, HashOrder } from './threaded-hash.ts'

/** Bytes per read, in whole pages. One is hashed while the next is read. */
const READ_AT_ONCE_BYTES = 2 * 1024 * 1024

interface Hashing {
  hash: Hash
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
  const hashing = { hash: createHash('sha256'), turn: Promise.resolve(), hasEnded: false }
  hashings.set(hash, hashing)
  return hashing
}

/** A hash that has ended, or that an earlier thread kept: every order to it fails. */
function endedHashing(): Hashing {
  const turn = Promise.reject(new Error('this hash has ended'))
  return { hash: createHash('sha256'), turn, hasEnded: true }
}

/** Resolves to the digest for that order, otherwise to an empty text. */
async function runOrder(hashing: Hashing, order: HashOrder): Promise<string> {
  if (order.kind === 'bytes') hashing.hash.update(order.bytes)
  else if (order.kind === 'file') await readUpTo(hashing, order.file, order.upTo)
  else if (order.kind === 'digest') return hashing.hash.digest('hex')
  return ''
}

async function readUpTo(hashing: Hashing, file: Descriptors, upTo: number): Promise<void> {
  let [memory, other] = [pageMemory(READ_AT_ONCE_BYTES), pageMemory(READ_AT_ONCE_BYTES)]
  let read = readAt(file, memory, 0)
  for (let at = 0; at < upTo && !hashing.hasEnded; at += READ_AT_ONCE_BYTES) {
    const end = at + (await read)
    const wanted = Math.min(at + READ_AT_ONCE_BYTES, upTo)
    if (end < wanted) throw new Error(`the part has ${end} bytes instead of ${upTo}`)
    read = wanted < upTo ? readAt(file, other, wanted) : Promise.resolve(0)
    hashing.hash.update(memory.subarray(0, wanted - at))
    ;[memory, other] = [other, memory]
  }
  await read
}
