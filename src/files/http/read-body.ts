import { isUtf8 } from 'node:buffer'
import type { Clock } from '../../core/time.ts'
import { type ErrorFacts, ProtocolError, StalledError } from '../errors.ts'
import type { HttpReply } from './transport.ts'

/** Bound of an API reply; a larger body is refused. */
const MAX_TEXT_BYTES = 32 * 1024 * 1024

/** How long a reader waits for the next bytes. */
interface Patience {
  clock: Clock
  /** The longest silence of the server, in milliseconds. */
  stallMs: number
  facts: ErrorFacts
}

/**
 * The bytes of a body as they arrive. Throws `StalledError` when the server is silent; the
 * consumer's own time does not count.
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
    // Not `body.return()`: it would wait for the chunk that does not come.
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

/** The whole body as text. Throws `ProtocolError` above 32 MiB. */
export async function readText(reply: Pick<HttpReply, 'body' | 'discard'>, patience: Patience): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of readChunks(reply, patience)) {
    bytes += chunk.byteLength
    if (bytes > MAX_TEXT_BYTES) {
      throw new ProtocolError('The reply is larger than 32 MiB, the bound for a reply of the API.', patience.facts)
    }
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks)
  if (isUtf8(text)) return text.toString('utf8')
  const message = 'The reply is not UTF-8: a path or name in it could not be read as it is.'
  throw new ProtocolError(message, patience.facts)
}
