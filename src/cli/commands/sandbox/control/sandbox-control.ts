import { join, resolve } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import { z } from 'zod'
import { type ErrorCode, UpshotError } from '../../../../core/errors.ts'
import { loadProject } from '../../../open/open-project.ts'
import { findRunningApp } from '../../../open/running-app.ts'
import type { Output } from '../../../terminal/output.ts'
import { readSandboxFile } from './sandbox-file.ts'

/** Which sandbox is meant. */
export interface SandboxChoice {
  url?: string | undefined
  dir?: string | undefined
}

/** A command that works with a running sandbox. */
export function atSandbox(command: Command) {
  return command
    .option('--url <url>', 'address of the sandbox (default: the one of the project, running with the app or alone)')
    .option('--dir <dir>', 'folder that a sandbox was started on with "upshot sandbox start --dir"')
}

/** A running sandbox, driven over its control API. */
export interface SandboxControl {
  readonly origin: string
  /** Whether an app started it for itself: its key and its webhook are in there. */
  readonly belongsToApp: boolean
  /**
   * What `path` under `/_sandbox` answers. It is another part of this same program, so its shape is
   * taken on trust.
   */
  get<T>(path: string): Promise<T>
  post<T>(path: string, body?: object): Promise<T>
  put<T>(path: string, content?: RequestBody): Promise<T>
  patch<T>(path: string, body: object): Promise<T>
  delete<T>(path: string): Promise<T>
}

type RequestBody = string | Blob

/** Moving the clock may wait for every receiver that does not answer. */
const ANSWER_WITHIN_MS = 300_000
const GREETING_WITHIN_MS = 5_000

const answer = z.object({ data: z.unknown() })
const refusal = z.object({ error: z.object({ message: z.string() }) })

/** Throws `not_running` when nothing answers there, `invalid_request` when it is no sandbox. */
export async function findSandbox(choice: SandboxChoice): Promise<SandboxControl> {
  const { origin, belongsToApp } = await locate(choice)
  await greet(origin)
  const call = (method: string, path: string, body?: RequestBody) => ask(origin, { method, path, body })
  return {
    origin,
    belongsToApp,
    get: (path) => call('GET', path) as never,
    post: (path, body = {}) => call('POST', path, JSON.stringify(body)) as never,
    put: (path, content) => call('PUT', path, content) as never,
    patch: (path, body) => call('PATCH', path, JSON.stringify(body)) as never,
    delete: (path) => call('DELETE', path) as never,
  }
}

async function locate({ url, dir }: SandboxChoice): Promise<{ origin: string; belongsToApp: boolean }> {
  if (url !== undefined) return { origin: parseOrigin(url), belongsToApp: false }
  if (dir !== undefined) return { origin: readOrigin(resolve(dir)), belongsToApp: false }
  const config = await loadProject({}, { isSandbox: true })
  const app = await findRunningApp(config)
  if (app?.sandbox) return { origin: app.sandbox.origin, belongsToApp: true }
  return { origin: readOrigin(join(config.dataDir, 'sandbox')), belongsToApp: false }
}

function readOrigin(dir: string): string {
  const found = readSandboxFile(dir)
  if (found !== null) return found.origin
  throw notRunning(`No sandbox runs on ${dir}.`)
}

function parseOrigin(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return new URL(text).origin
  throw new UpshotError('invalid_request', `"${text}" is no address of a sandbox.`, {
    details: { fix: 'Write it as "upshot sandbox start" prints it, such as http://127.0.0.1:4747.' },
  })
}

/**
 * A stale address may belong to another program by now, which must not be told to delete anything.
 */
async function greet(origin: string): Promise<void> {
  const url = `${origin}/_sandbox/health`
  const health = z.object({ data: z.object({ status: z.literal('ok'), clock: z.string() }) })
  let reply: Response
  try {
    reply = await fetch(url, { signal: AbortSignal.timeout(GREETING_WITHIN_MS), redirect: 'manual' })
  } catch {
    throw notRunning(`No sandbox answers at ${origin}.`)
  }
  const greeting = health.safeParse(await reply.json().catch(() => null))
  if (reply.ok && greeting.success) return
  throw new UpshotError('invalid_request', `What answers at ${origin} is no sandbox that takes this name.`, {
    details: { fix: 'Name the address that the sandbox printed at its start, with --url.' },
  })
}

function notRunning(message: string): UpshotError {
  return new UpshotError('not_running', message, {
    details: { fix: 'Start one with "upshot sandbox start" or "upshot dev", or name one with --url.' },
  })
}

async function ask(
  origin: string,
  { method, path, body }: { method: string; path: string; body: RequestBody | undefined },
): Promise<unknown> {
  const isText = typeof body === 'string'
  const reply = await fetch(`${origin}/_sandbox${path}`, {
    method,
    headers: { 'x-sandbox-control': '1', ...(isText ? { 'content-type': 'application/json' } : {}) },
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    ...(body === undefined ? {} : { body }),
  }).catch((cause: unknown) => {
    throw new UpshotError('not_running', `The sandbox at ${origin} went away.`, { cause })
  })
  const content: unknown = await reply.json().catch(() => null)
  if (reply.ok) return answer.parse(content).data
  throw new UpshotError(codeOf(reply.status), refusal.safeParse(content).data?.error.message ?? `HTTP ${reply.status}.`)
}

function codeOf(status: number): ErrorCode {
  if (status === 404) return 'not_found'
  if (status === 409) return 'conflict'
  return status < 500 ? 'invalid_request' : 'internal'
}

/** Under `--dry-run`: says what would be done, and gives true. */
export function isRehearsal(out: Output, would: string): boolean {
  if (!out.given.dryRun) return false
  out.result({ done: false, would }, () => [`Would ${would}.`])
  return true
}

/** A path of the control API with a query; what is undefined is left out. */
export function withQuery(path: string, query: Record<string, string | number | boolean | undefined>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  )
  return given.length === 0 ? path : `${path}?${new URLSearchParams(Object.fromEntries(given))}`
}
