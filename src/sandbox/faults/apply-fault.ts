import type { Response } from 'express'
import type { Fault } from './fault-rule.ts'

const TICK_MS = 50

/**
 * Makes the body that will be written to `response` end early, stop coming, or trickle, as the
 * fault says.
 */
export function spoilBody(response: Response, fault: Fault): void {
  const { cutAfterBytes, stallAfterBytes, bytesPerSecond } = fault
  const most = cutAfterBytes ?? stallAfterBytes ?? Number.POSITIVE_INFINITY
  if (most === Number.POSITIVE_INFINITY && bytesPerSecond === undefined) return
  const body = new SpoiledBody(response, {
    most,
    perTick: bytesPerSecond === undefined ? Number.POSITIVE_INFINITY : Math.max(1, (bytesPerSecond * TICK_MS) / 1000),
    cutsAtMost: cutAfterBytes !== undefined,
  })
  response.write = ((chunk: string | Uint8Array, written?: () => void) =>
    body.write(chunk, written)) as Response['write']
  response.end = ((chunk?: string | Uint8Array) => body.end(chunk)) as Response['end']
}

interface Spoiling {
  /** Bytes of the body that get through. */
  most: number
  perTick: number
  /** Whether the connection is cut there; otherwise it stays open and silent. */
  cutsAtMost: boolean
}

/** Stands between what writes a reply and the reply, and lets through what the fault allows. */
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
   * Takes the bytes over; `passed` is called once all that was written is on its way, which never
   * happens after a cut.
   */
  write(chunk: string | Uint8Array, passed?: () => void): boolean {
    this.#waiting = Buffer.concat([this.#waiting, Buffer.from(chunk as Uint8Array)])
    if (typeof passed === 'function') this.#onPassed.push(passed)
    this.#pass()
    // False also stops whoever pipes a file: no 'drain' will come once it is over.
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
    const { most, perTick, cutsAtMost } = this.#spoiling
    const size = Math.min(this.#waiting.length, Math.ceil(perTick), most - this.#sent)
    if (size > 0) this.#write(this.#waiting.subarray(0, size))
    else this.#response.flushHeaders()
    this.#sent += size
    this.#waiting = this.#waiting.subarray(size)
    if (this.#sent >= most) this.#stopHere(cutsAtMost)
    else if (this.#waiting.length > 0) this.#passLater()
    else if (this.#hasEnded) this.#end()
    else this.#tellPassed()
  }

  #tellPassed(): void {
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
    // What was let through has to leave first.
    if (cuts) setImmediate(() => this.#response.destroy())
  }
}

/** A reply that a fault puts in the place of the right one; false when the right one may go out. */
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

/** Sets rate limit headers that cannot all be true. */
export function contradictRateHeaders(response: Response, now: number): void {
  response.set({
    'X-RateLimit-Limit': '60',
    'X-RateLimit-Remaining': '59',
    'X-RateLimit-Reset': String(Math.floor(now / 1000) - 3600),
    'Retry-After': '2',
  })
}
