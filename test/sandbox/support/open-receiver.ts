import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:http'
import { listen } from '../../support/listen.ts'

export interface Received {
  headers: IncomingHttpHeaders
  body: Buffer
}

export interface Receiver {
  url: string
  received: Received[]
  /** The statuses of the next replies, in order; then `fallback`. */
  statuses: number[]
  fallback: number
  /** Whether it accepts deliveries without answering. */
  isSilent: boolean
}

/** A receiver that answers with the given statuses. */
export async function openReceiver(): Promise<Receiver> {
  const receiver: Receiver = { url: '', received: [], statuses: [], fallback: 200, isSilent: false }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    receiver.received.push({ headers: request.headers, body: Buffer.concat(chunks) })
    if (receiver.isSilent) return
    response.writeHead(receiver.statuses.shift() ?? receiver.fallback).end()
  })
  receiver.url = `${await listen(server)}/hooks`
  return receiver
}
