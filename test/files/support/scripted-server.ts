import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test as base, onTestFinished } from 'vitest'

/** One request as it reached the server. */
export interface Seen {
  method: string
  /** Not decoded. */
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  body: string
  at: number
}

export type Reply = (response: ServerResponse, request: Seen) => void

/** A server with scripted replies, however wrong: real HTTP on a loopback port. */
export class ScriptedServer {
  readonly seen: Seen[] = []
  #server = createServer((request, response) => void this.#handle(request, response))
  #script: Reply[] = []
  #otherwise: Reply = json(500, { success: false, error: { code: 'unscripted', message: 'no reply scripted' } })
  #waiting: { count: number; resolve: () => void }[] = []

  static async start(): Promise<ScriptedServer> {
    const server = new ScriptedServer()
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get baseUrl(): string {
    return `${this.origin}/v1`
  }

  /** Sets the replies to the next requests, in this order. */
  script(...replies: Reply[]): this {
    this.#script.push(...replies)
    return this
  }

  /** Sets the reply to every request after the script. */
  otherwise(reply: Reply): this {
    this.#otherwise = reply
    return this
  }

  /** Resolves when `count` requests have arrived since the start. */
  received(count: number): Promise<void> {
    if (this.seen.length >= count) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push({ count, resolve }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {})
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const url = new URL(request.url ?? '/', this.origin)
    const seen = {
      method: request.method ?? '',
      path: (request.url ?? '').split('?')[0] ?? '',
      query: url.searchParams,
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
      at: Date.now(),
    }
    this.seen.push(seen)
    const reply = this.#script.shift() ?? this.#otherwise
    reply(response, seen)
    for (const waiting of this.#waiting) if (this.seen.length >= waiting.count) waiting.resolve()
  }
}

type Headers = Record<string, string | string[]>

export function json(status: number, body: unknown, headers: Headers = {}): Reply {
  return text(status, JSON.stringify(body), { 'content-type': 'application/json', ...headers })
}

export function text(status: number, body: string, headers: Headers = {}): Reply {
  return (response) => response.writeHead(status, headers).end(body)
}

export function ok(data: unknown, more: Record<string, unknown> = {}, headers: Headers = {}): Reply {
  return json(200, { success: true, data, ...more }, headers)
}

export function failure(status: number, code: string, headers: Headers = {}): Reply {
  return json(status, { success: false, error: { code, message: `about ${code}`, details: { hint: 1 } } }, headers)
}

/** Breaks the connection without a reply. */
export const reset: Reply = (response) => response.destroy()

/** Accepts the request and never replies. */
export const silence: Reply = () => {}

/** Sends headers and the beginning of a body, then nothing more. */
export function stall(headers: Headers, beginning: string | Uint8Array): Reply {
  return (response) => response.writeHead(200, headers).write(beginning)
}

/** A test names the server that it uses. */
export const test = base.extend('server', async () => {
  const server = await ScriptedServer.start()
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
})
