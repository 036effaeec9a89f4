import type { Sandbox } from '../../../src/sandbox/index.ts'

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
