import { globalAgent } from 'node:https'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { ChunkedBody } from './chunked-body.ts'
import { HeadReader, type ResponseHead } from './head-reader.ts'
import { ReusedMemory } from './reused-memory.ts'
import { type HttpReply, type HttpRequest, nodeTransport, type Transport } from './transport.ts'

/**
 * For the bytes of files: one GET on a connection of its own, read into memory that is used again.
 * Node's HTTP client takes fresh memory for every 64 KiB, which costs half of the speed and 70 MiB
 * of uncollected buffers. What it alone can do, such as going through a proxy, is left to it.
 */
export const rawTransport: Transport = async (request) => {
  const isProxied = globalAgent.options.proxyEnv !== undefined
  const isPlain = request.method === 'GET' && request.url.username === '' && !isProxied
  return isPlain ? rawGet(request) : nodeTransport(request)
}

function rawGet(request: HttpRequest): Promise<HttpReply> {
  const head = requestHead(request)
  const body = new RawBody()
  return new Promise((resolve, reject) => {
    const socket = connect(request, {
      buffer: () => body.nextSlot(),
      callback: (count, slot) => body.take(slot.subarray(0, count)),
    })
    body.attach(socket, { onHead: ({ status, headers }) => resolve(toReply(body, status, headers)), onFailure: reject })
    socket.once(request.url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      request.onConnected()
      socket.write(head)
    })
  })
}

function toReply(body: RawBody, status: number, headers: Headers): HttpReply {
  return { status, headers, body, discard: () => body.discard(), release: (bytes) => body.release(bytes) }
}

/** Where a socket puts what it reads, and whom it tells. */
interface Reading {
  buffer: () => Uint8Array
  /** Reading pauses when it gives back false. */
  callback: (count: number, slot: Uint8Array) => boolean
}

function connect({ url, signal }: HttpRequest, onread: Reading): Socket {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (url.protocol !== 'https:') return connectTcp({ host, port: Number(url.port || 80), signal, onread })
  const servername = isIP(host) === 0 ? { servername: host } : {}
  const options = { host, port: Number(url.port || 443), ALPNProtocols: ['http/1.1'], signal, onread, ...servername }
  return connectTls(options)
}

function requestHead({ url, headers }: HttpRequest): string {
  const fields = Object.entries({ host: url.host, ...headers, connection: 'close' })
  // An ETag may come from a file beside the download, which anyone may have written.
  for (const [name, value] of fields)
    if (/[^\t\x20-\x7e]/.test(value)) throw new Error(`the header ${name} cannot be sent`)
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n`
}

/**
 * A body as it arrives: chunks wait here for whoever reads them, and reading pauses when slots run
 * short.
 */
class RawBody implements AsyncIterator<Uint8Array> {
  readonly #slots = new ReusedMemory()
  readonly #heads = new HeadReader()
  readonly #chunked = new ChunkedBody()
  readonly #ready: Uint8Array[] = []
  #socket: Socket | null = null
  #head: ResponseHead | null = null
  #onHead: (head: ResponseHead) => void = () => {}
  #onFailure: (error: unknown) => void = () => {}
  #left = 0
  #isPaused = false
  #isComplete = false
  #failure: { error: unknown } | null = null
  #wake: (() => void) | null = null

  attach(
    socket: Socket,
    listener: { onHead: (head: ResponseHead) => void; onFailure: (error: unknown) => void },
  ): void {
    this.#socket = socket
    this.#onHead = listener.onHead
    this.#onFailure = listener.onFailure
    socket.on('error', (error) => this.#fail(error))
    socket.on('end', () => {
      if (this.#head?.framing.kind === 'close') this.#complete()
    })
    socket.on('close', () => this.#fail(new Error('the connection closed before the response was complete')))
  }

  nextSlot(): Uint8Array {
    return this.#slots.take()
  }

  /** Takes in what was read; gives back whether to go on reading. */
  take(bytes: Uint8Array): boolean {
    try {
      const content = this.#contentOf(bytes)
      if (content.byteLength === 0) this.#slots.release(bytes)
      else this.#ready.push(content)
    } catch (error) {
      this.#socket?.destroy(error instanceof Error ? error : new Error(String(error)))
    }
    this.#wake?.()
    this.#isPaused = this.#slots.isShort
    return !this.#isPaused
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    while (this.#ready.length === 0 && !this.#isComplete && this.#failure === null) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    const bytes = this.#ready.shift()
    if (bytes !== undefined) return { done: false, value: bytes }
    if (this.#failure !== null) throw this.#failure.error
    return { done: true, value: undefined }
  }

  release(bytes: Uint8Array): void {
    this.#slots.release(bytes)
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket?.resume()
  }

  discard(): void {
    this.#socket?.destroy()
  }

  /** The part of what was read that is content; it lies in the same slot. */
  #contentOf(bytes: Uint8Array): Uint8Array {
    const used = this.#head === null ? this.#readHead(bytes) : 0
    return this.#head === null ? bytes.subarray(0, 0) : this.#unframe(this.#head, bytes.subarray(used))
  }

  #readHead(bytes: Uint8Array): number {
    const read = this.#heads.read(bytes)
    if (read === null) return 0
    this.#head = read.head
    this.#left = read.head.framing.kind === 'length' ? read.head.framing.bytes : 0
    this.#onHead(read.head)
    return read.used
  }

  #unframe({ framing }: ResponseHead, bytes: Uint8Array): Uint8Array {
    if (framing.kind === 'close') return bytes
    if (framing.kind === 'chunked') {
      const content = bytes.subarray(0, this.#chunked.compact(bytes))
      if (this.#chunked.isComplete) this.#complete()
      return content
    }
    const content = bytes.subarray(0, this.#left)
    this.#left -= content.byteLength
    if (this.#left === 0) this.#complete()
    return content
  }

  #complete(): void {
    this.#isComplete = true
    this.#socket?.destroy()
    this.#wake?.()
  }

  #fail(error: unknown): void {
    if (this.#isComplete || this.#failure !== null) return
    this.#failure = { error }
    this.#onFailure(error)
    this.#wake?.()
  }
}
