import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/index.ts'

/** A directory for one test, removed at its end. */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'sandbox-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** A sandbox with a manual clock and no rate limit, stopped at the end of the test. */
export async function openSandbox(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ dir: tempDir(), clock: 'manual', plan: 'unlimited', ...options })
  onTestFinished(() => sandbox.stop())
  return sandbox
}

export interface Reply {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a reply's body is what the tests look into
  body: any
}

/** Calls the Files API; the body is parsed as JSON. */
export async function call(sandbox: Sandbox, path: string, init: RequestInit & { key?: string } = {}): Promise<Reply> {
  const { key, ...rest } = init
  const headers = { ...(key ? { authorization: `Bearer ${key}` } : {}), ...rest.headers }
  const response = await fetch(sandbox.url + path, { ...rest, headers })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** Calls the control API under `/_sandbox`. */
export async function control(sandbox: Sandbox, method: string, path: string, body?: unknown): Promise<Reply> {
  const response = await fetch(`${sandbox.origin}/_sandbox${path}`, {
    method,
    headers: { 'x-sandbox-control': '1', 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`
  return receiver
}

/** A sandbox with two files and a folder, and an admin key. */
export async function openAccount(options: Partial<SandboxOptions> = {}) {
  const sandbox = await openSandbox(options)
  const { key } = await sandbox.keys.create({ name: 'admin', scope: 'admin' })
  await sandbox.storage('storage_a').put('/folder/report.pdf', 'a report')
  await sandbox.storage('storage_a').put('/empty.txt', '')
  const { id = '' } =
    sandbox
      .storage('storage_a')
      .list()
      .find(({ name }) => name === 'report.pdf') ?? {}
  const ask = (path: string, init: RequestInit = {}) => call(sandbox, path, { key, ...init })
  return { sandbox, key, id, ask, on: `/files/${id}` }
}
