import { pipeline } from 'node:stream/promises'
import type { Response } from 'express'
import type { Bytes } from '../perform/handler.ts'

/**
 * Sends bytes as an attachment, which no browser shows as a page of ours. A fault before the first
 * byte is answered as a problem; a later one cuts the connection. Reads no faster than the client.
 */
export async function sendBytes(
  response: Response,
  { type, name, size, chunks }: Bytes,
  signal: AbortSignal,
): Promise<void> {
  const iterator = chunks[Symbol.asyncIterator]()
  const first = await iterator.next()
  response.attachment(name).type(type)
  response.set({ 'Cache-Control': 'no-store', ...(size === null ? {} : { 'Content-Length': String(size) }) })
  async function* all() {
    if (first.done) return
    yield first.value
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
  await send(response, all(), signal)
}

/** Sends each event as it comes, until there are no more or the client is gone. */
export async function sendEvents(
  response: Response,
  events: AsyncIterable<unknown>,
  signal: AbortSignal,
): Promise<void> {
  response.set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' })
  async function* all() {
    for await (const event of events) yield `data: ${JSON.stringify(event)}\n\n`
  }
  await send(response, all(), signal)
}

function send(response: Response, chunks: AsyncIterable<Uint8Array | string>, signal: AbortSignal): Promise<void> {
  return pipeline(chunks, response).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
}
