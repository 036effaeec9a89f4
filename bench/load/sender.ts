import { closeSync, openSync, readSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { ID_BYTES, RECORD_BYTES, requestParts, type Slice } from '../deliveries.ts'
import { answerCalls } from '../processes/answer-calls.ts'
import type { Burst } from './load-generator.ts'

/** Response times of the 200s of one process; `refused` counts all other answers. */
export interface ShareResult {
  timesMs: number[]
  refused: number
  seconds: number
}

const HEAD_END = Buffer.from('\r\n\r\n')

answerCalls({ send: sendShare })

async function sendShare({ url, connections, seconds, deliveries }: Burst): Promise<ShareResult> {
  const next = readRequests(url, deliveries)
  const begunAt = performance.now()
  const result: ShareResult = { timesMs: [], refused: 0, seconds: 0 }
  const until = begunAt + seconds * 1_000
  await Promise.all(Array.from({ length: connections }, () => sendOnConnection(url, until, next, result)))
  result.seconds = (performance.now() - begunAt) / 1_000
  return result
}

/** Returns the next request at each call; null after the last record. */
function readRequests(url: string, { path, from, count }: Slice): () => string | null {
  const records = Buffer.alloc(count * RECORD_BYTES)
  const descriptor = openSync(path, 'r')
  readSync(descriptor, records, 0, records.length, from * RECORD_BYTES)
  closeSync(descriptor)
  const [before, between, after] = requestParts(url)
  let at = 0
  return () => {
    if (at >= records.length) return null
    const record = records.toString('latin1', at, at + RECORD_BYTES)
    at += RECORD_BYTES
    return before + record.slice(ID_BYTES) + between + record.slice(0, ID_BYTES) + after
  }
}

/** Sends requests one by one, without pipelining. Resolves after the last answer. */
function sendOnConnection(url: string, until: number, next: () => string | null, result: ShareResult): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  let sentAt = 0
  const sendNext = () => {
    sentAt = performance.now()
    const request = sentAt < until ? next() : null
    if (request === null) socket.end()
    else socket.write(request, 'latin1')
  }
  return new Promise((resolve, reject) => {
    socket.on('connect', sendNext).on('error', reject).on('close', resolve)
    readAnswers(socket, (isOk) => {
      if (isOk) result.timesMs.push(performance.now() - sentAt)
      else result.refused += 1
      sendNext()
    })
  })
}

/** Calls `onAnswer` for each complete answer; parses only its status and length. */
function readAnswers(socket: Socket, onAnswer: (isOk: boolean) => void): void {
  let pending: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    const headEnd = pending.indexOf(HEAD_END)
    if (headEnd === -1) return
    const head = pending.toString('latin1', 0, headEnd)
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
    if (pending.length < headEnd + HEAD_END.length + length) return
    pending = Buffer.alloc(0)
    onAnswer(head.startsWith('HTTP/1.1 200'))
  })
}
