import { globalAgent } from 'node:https'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { ChunkedBody, HeadReader, type ResponseHead } from './reply-framing.ts'
import { type HttpReply, type HttpRequest, nodeTransport, type Transport } from './transport.ts'

/**
 * Reads the bytes of files: one GET per connection, into memory that is used again. Node's client
 * takes requests through a proxy and all others: see decision 24.
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
      buffer: () => body.nextBuffer(),
      callback: (count, buffer) => body.take(buffer.subarray(0, count)),
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

/** The callbacks through which a socket reads into given memory. */
interface Reading {
  buffer: () => Uint8Array
  /** Reading pauses when it returns false. */
  callback: (count: number, buffer: Uint8Array) => boolean
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
  // An ETag may come from a file beside the download, which any program may have written.
  for (const [name, value] of fields)
    if (/[^\t\x20-\x7e]/.test(value)) throw new Error(`the header ${name} cannot be sent`)
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n`
}

/** A body as it arrives. Chunks wait for their reader; reading pauses while buffers are short. */
class RawBody implements AsyncIterator<Uint8Array> {
  readonly #memory = new ReusedMemory()
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

  nextBuffer(): Uint8Array {
    return this.#memory.take()
  }

  /** Takes in the bytes that were read; false pauses reading. */
  take(bytes: Uint8Array): boolean {
    try {
      const content = this.#contentOf(bytes)
      if (content.byteLength === 0) this.#memory.release(bytes)
      else this.#ready.push(content)
    } catch (error) {
      this.#socket?.destroy(error instanceof Error ? error : new Error(String(error)))
    }
    this.#wake?.()
    this.#isPaused = this.#memory.isShort
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
    this.#memory.release(bytes)
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket?.resume()
  }

  discard(): void {
    this.#socket?.destroy()
  }

  /** The part of the bytes that is content; it lies in the same buffer. */
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

/** The size of a buffer, which bounds one read from a socket. */
const BUFFER_BYTES = 256 * 1024

/** Buffers of one connection: some are read into while others wait to be copied. */
const MAX_BUFFERS = 8

/**
 * Memory that is read into again and again. A file of any size needs 2 MiB and leaves nothing to
 * collect.
 */
class ReusedMemory {
  readonly #free: ArrayBufferLike[] = []
  #made = 0

  /** True when one buffer is left: Node still fills one after it was told to pause. */
  get isShort(): boolean {
    return this.#free.length + MAX_BUFFERS - this.#made <= 1
  }

  take(): Uint8Array {
    const known = this.#free.pop()
    if (known !== undefined) return new Uint8Array(known)
    this.#made++
    return new Uint8Array(BUFFER_BYTES)
  }

  release(bytes: Uint8Array): void {
    this.#free.push(bytes.buffer)
  }
}
