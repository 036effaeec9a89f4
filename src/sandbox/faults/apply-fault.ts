import type { Response } from 'express'
import type { Fault } from './fault-rule.ts'

const TICK_MS = 50

/** Makes the body of `response` end early, stall or trickle, as the fault says. */
export function spoilBody(response: Response, fault: Fault): void {
  const { cutAfterBytes, stallAfterBytes, bytesPerSecond } = fault
  const maxBytes = cutAfterBytes ?? stallAfterBytes ?? Number.POSITIVE_INFINITY
  if (maxBytes === Number.POSITIVE_INFINITY && bytesPerSecond === undefined) return
  const body = new SpoiledBody(response, {
    maxBytes,
    bytesPerTick:
      bytesPerSecond === undefined ? Number.POSITIVE_INFINITY : Math.max(1, (bytesPerSecond * TICK_MS) / 1000),
    cutsAtMax: cutAfterBytes !== undefined,
  })
  response.write = ((chunk: string | Uint8Array, written?: () => void) =>
    body.write(chunk, written)) as Response['write']
  response.end = ((chunk?: string | Uint8Array) => body.end(chunk)) as Response['end']
}

interface Spoiling {
  /** Bytes of the body that pass. */
  maxBytes: number
  bytesPerTick: number
  /** After `maxBytes`, true cuts the connection, false leaves it open and silent. */
  cutsAtMax: boolean
}

/** Replaces `write` and `end` of a response and passes on what the fault allows. */
class SpoiledBody {
  readonly #response: Response
  readonly #spoiling: Spoiling
  readonly #write: (chunk: Uint8Array) => boolean
  readonly #end: () => void
  #waiting = Buffer.alloc(0)
  #onPassed: (() => void)[] = []
  #sent = 0
  #hasEnded = false
  #isOver = false
  #timer: NodeJS.Timeout | undefined

  constructor(response: Response, spoiling: Spoiling) {
    this.#response = response
    this.#spoiling = spoiling
    const { write, end } = response
    this.#write = (chunk) => write.call(response, chunk, 'utf8')
    this.#end = () => end.call(response, undefined, 'utf8')
    response.on('close', () => clearTimeout(this.#timer))
  }

  /**
   * Queues a chunk. `passed` is called once everything written has left; after a cut it never is.
   */
  write(chunk: string | Uint8Array, passed?: () => void): boolean {
    this.#waiting = Buffer.concat([this.#waiting, Buffer.from(chunk as Uint8Array)])
    if (typeof passed === 'function') this.#onPassed.push(passed)
    this.#pass()
    // False also stops a piped file: no 'drain' follows once the body is over.
    return this.#waiting.length === 0 && !this.#isOver
  }

  end(chunk?: string | Uint8Array): Response {
    this.#hasEnded = true
    if (chunk !== undefined && typeof chunk !== 'function') this.write(chunk)
    else this.#pass()
    return this.#response
  }

  #pass(): void {
    if (this.#isOver || this.#timer !== undefined || this.#response.destroyed) return
    const { maxBytes, bytesPerTick, cutsAtMax } = this.#spoiling
    const size = Math.min(this.#waiting.length, Math.ceil(bytesPerTick), maxBytes - this.#sent)
    if (size > 0) this.#write(this.#waiting.subarray(0, size))
    else this.#response.flushHeaders()
    this.#sent += size
    this.#waiting = this.#waiting.subarray(size)
    if (this.#sent >= maxBytes) this.#stopHere(cutsAtMax)
    else if (this.#waiting.length > 0) this.#passLater()
    else if (this.#hasEnded) this.#end()
    else this.#reportPassed()
  }

  #reportPassed(): void {
    for (const passed of this.#onPassed.splice(0)) passed()
    this.#response.emit('drain')
  }

  #passLater(): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#pass()
    }, TICK_MS)
  }

  #stopHere(cuts: boolean): void {
    this.#isOver = true
    this.#waiting = Buffer.alloc(0)
    // The bytes that passed have to leave before the connection is cut.
    if (cuts) setImmediate(() => this.#response.destroy())
  }
}

/** Sends a fault's reply instead of the real one. False if the fault does not replace the reply. */
export function replaceReply(response: Response, fault: Fault): boolean {
  if (fault.reset) response.socket?.resetAndDestroy()
  else if (fault.html)
    response
      .status(fault.status ?? 502)
      .type('html')
      .send(GATEWAY_PAGE)
  else if (fault.garbage) response.status(200).type('json').send('{"success": true, "data": [{"id": "\u0000\ufffd')
  else return false
  return true
}

const GATEWAY_PAGE = '<html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>'

/** Sets rate limit headers that contradict one another. */
export function contradictRateHeaders(response: Response, now: number): void {
  response.set({
    'X-RateLimit-Limit': '60',
    'X-RateLimit-Remaining': '59',
    'X-RateLimit-Reset': String(Math.floor(now / 1000) - 3600),
    'Retry-After': '2',
  })
}
