import { createHash } from 'node:crypto'
import { readSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { HASHED_AT_ONCE_BYTES, type HashOrder } from './part-hash.ts'

/** The thread that hashes a file while its end is still being written: follows as far as it is told, then gives the hash. */
const { fd } = workerData as { fd: number }
const hash = createHash('sha256')
const buffer = Buffer.allocUnsafe(HASHED_AT_ONCE_BYTES)
let done = 0

parentPort?.on('message', ({ upTo, isEnd }: HashOrder) => {
  while (done < upTo) {
    const read = readSync(fd, buffer, 0, Math.min(buffer.byteLength, upTo - done), done)
    if (read === 0) throw new Error(`the part has ${done} bytes, and was to have ${upTo}`)
    hash.update(buffer.subarray(0, read))
    done += read
  }
  if (!isEnd) return
  parentPort?.postMessage(hash.digest('hex'))
  parentPort?.close()
})
