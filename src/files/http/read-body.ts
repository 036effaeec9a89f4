import type { Clock } from '../../core/time.ts'
import { type ErrorFacts, ProtocolError, StalledError } from '../errors.ts'
import type { HttpReply } from './transport.ts'

/** A reply of the API larger than this is no reply of the API. */
const MAX_TEXT_BYTES = 32 * 1024 * 1024

export interface Patience {
  clock: Clock
  /** Longest silence of the server. */
  stallMs: number
  facts: ErrorFacts
}

/**
 * The bytes of a body as they come. Throws `StalledError` when the server is silent while bytes are
 * awaited. The time that the consumer takes between two chunks does not count: a slow disk is no
 * stall, and it cannot hide a dead server either.
 */
export async function* readChunks(
  reply: Pick<HttpReply, 'body' | 'discard'>,
  patience: Patience,
): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const { done, value } = await nextWithin(reply.body, patience)
      if (done) return
      yield value
    }
  } finally {
    // Not `body.return()`: that would wait for the very chunk that does not come.
    reply.discard()
  }
}

function nextWithin(
  body: AsyncIterator<Uint8Array>,
  { clock, stallMs, facts }: Patience,
): Promise<IteratorResult<Uint8Array>> {
  return new Promise((resolve, reject) => {
    const cancel = clock.at(clock.now() + stallMs, () =>
      reject(new StalledError(`The server sent nothing for ${stallMs} ms.`, facts)),
    )
    body.next().then(resolve, reject).finally(cancel)
  })
}

/** The whole body as text. */
export async function readText(reply: Pick<HttpReply, 'body' | 'discard'>, patience: Patience): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of readChunks(reply, patience)) {
    bytes += chunk.byteLength
    if (bytes > MAX_TEXT_BYTES) {
      throw new ProtocolError('The reply is larger than any reply of this API.', patience.facts)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
