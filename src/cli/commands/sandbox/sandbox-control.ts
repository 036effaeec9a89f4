import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { askSandbox } from '../../../app/service/ask-sandbox.ts'
import { UpshotError } from '../../../core/errors.ts'
import type { Project } from '../../open/open-project.ts'
import { findRunningApp } from '../../open/running-app.ts'

/** The options that choose a running sandbox. */
export interface SandboxChoice {
  url?: string | undefined
  dir?: string | undefined
}

/** A client of a sandbox's control API. */
export interface SandboxControl {
  readonly origin: string
  /** Whether an app started it: the sandbox then holds the app's key and webhook. */
  readonly belongsToApp: boolean
  /** The `data` of an answer. `path` is under `/_sandbox`; the shape is trusted, not checked. */
  get<T>(path: string): Promise<T>
  post<T>(path: string, body?: object): Promise<T>
  put<T>(path: string, content?: RequestBody): Promise<T>
  patch<T>(path: string, body: object): Promise<T>
  delete<T>(path: string): Promise<T>
}

type RequestBody = string | Blob

const HEALTH_WITHIN_MS = 5_000

/** The chosen sandbox. Throws `not_running`, or `invalid_request` if it is another server. */
export async function findSandbox(project: Project, choice: SandboxChoice): Promise<SandboxControl> {
  const { origin, belongsToApp, pid } = await locate(project, choice)
  await checkHealth(origin, pid)
  const call = async (method: string, path: string, body?: RequestBody) => {
    if (belongsToApp && method !== 'GET') await recordChange(project, method, path)
    return askSandbox(origin, { method, path, body })
  }
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

/** Before the change. The body stays out of the audit log: it may hold the secret of a webhook. */
function recordChange(project: Project, method: string, path: string): Promise<void> {
  const [place = path] = path.split('?')
  return project.recordAction({ action: 'sandbox.change', target: place, parameters: { method } }, 'begun')
}

async function locate(
  project: Project,
  { url, dir }: SandboxChoice,
): Promise<{ origin: string; belongsToApp: boolean; pid?: number }> {
  if (url !== undefined) return { origin: parseOrigin(url), belongsToApp: false }
  if (dir !== undefined) return { ...requireFile(resolve(dir)), belongsToApp: false }
  const config = await project.load({}, { isSandbox: true })
  const app = await findRunningApp(config)
  if (app?.sandbox) return { origin: app.sandbox.origin, belongsToApp: true }
  return { ...requireFile(join(config.dataDir, 'sandbox')), belongsToApp: false }
}

function requireFile(dir: string): SandboxFacts {
  const found = readSandboxFile(dir)
  if (found !== null) return found
  throw notRunning(`No sandbox is running on ${dir}.`)
}

function parseOrigin(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return new URL(text).origin
  throw new UpshotError('invalid_request', `"${text}" is not an http address.`, {
    fix: 'Give the address that "upshot sandbox start" printed, such as http://127.0.0.1:4747.',
  })
}

/** Checks that the sandbox answers: an old address may be that of another program by now. */
async function checkHealth(origin: string, pid: number | undefined): Promise<void> {
  const url = `${origin}/_sandbox/health`
  const health = z.object({ data: z.object({ status: z.literal('ok'), pid: z.int().optional() }) })
  let reply: Response
  try {
    reply = await fetch(url, { signal: AbortSignal.timeout(HEALTH_WITHIN_MS), redirect: 'manual' })
  } catch {
    throw notRunning(`No sandbox answers at ${origin}.`)
  }
  const answered = health.safeParse(await reply.json().catch(() => null))
  if (reply.ok && answered.success) {
    if (pid === undefined || (answered.data.data.pid ?? pid) === pid) return
    throw notRunning(`The sandbox of this folder has ended, and at ${origin} is another one.`)
  }
  throw new UpshotError(
    'invalid_request',
    `The server at ${origin} is not a sandbox, or does not accept this host name.`,
    {
      fix: 'Give the address that the sandbox printed at its start with --url.',
    },
  )
}

function notRunning(message: string): UpshotError {
  return new UpshotError('not_running', message, {
    fix: 'Start one with "upshot sandbox start" or "upshot dev", or name one with --url.',
  })
}

/** A path of the control API with its query, without undefined values. */
export function withQuery(path: string, query: Record<string, string | number | boolean | undefined>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  )
  return given.length === 0 ? path : `${path}?${new URLSearchParams(Object.fromEntries(given))}`
}

const facts = z.object({ pid: z.int(), startedAt: z.string(), origin: z.url() })

/** The file by which commands find a sandbox that runs without an app. It holds no secret. */
type SandboxFacts = z.infer<typeof facts>

export function writeSandboxFile(dir: string, found: SandboxFacts): void {
  const file = fileIn(dir)
  // Renamed into place, so that no reader sees half of it.
  writeFileSync(`${file}.new`, `${JSON.stringify(found, null, 2)}\n`)
  renameSync(`${file}.new`, file)
}

/** The running sandbox, or null. The file survives a crash, so the sandbox may be gone. */
function readSandboxFile(dir: string): SandboxFacts | null {
  const file = fileIn(dir)
  if (!existsSync(file)) return null
  try {
    return facts.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return null
  }
}

/** Removes the file when the sandbox stops. */
export function removeSandboxFile(dir: string): void {
  rmSync(fileIn(dir), { force: true })
}

function fileIn(dir: string): string {
  return join(dir, 'sandbox.json')
}
