import type { Problem } from '../../admin/contract/route.ts'
import type { AnswerOf, InputOf, RouteName } from '../../admin/contract/routes.ts'
import { ApiError } from './api-error.ts'
import { readClock } from './app-clock.ts'

interface AnyInput {
  params?: Record<string, string>
  query?: Record<string, unknown>
  body?: unknown
}

/** Calls an operation of the admin API. Throws {@link ApiError}. */
export async function call<Name extends RouteName>(
  name: Name,
  input: InputOf<Name>,
  signal?: AbortSignal,
): Promise<AnswerOf<Name>> {
  const response = await send(name, input, signal)
  return (response.status === 204 ? undefined : await response.json()) as AnswerOf<Name>
}

/** The events of an operation that tells its progress. Throws {@link ApiError}. */
export async function* follow<Name extends RouteName>(
  name: Name,
  input: InputOf<Name>,
  signal: AbortSignal,
): AsyncGenerator<AnswerOf<Name>> {
  for await (const message of readMessages(await send(name, input, signal))) {
    yield JSON.parse(message.slice('data: '.length))
  }
}

/** Server-sent events as texts, until the connection ends. */
export async function* readMessages({ body }: Response): AsyncGenerator<string> {
  if (!body) return
  // Not every browser can iterate a stream.
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const messages = `${rest}${part.value}`.split('\n\n')
    rest = messages.pop() ?? ''
    yield* messages
  }
}

async function send<Name extends RouteName>(
  name: Name,
  input: InputOf<Name>,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const [method = 'GET'] = name.split(' ')
  const { body } = input as AnyInput
  const headers: Record<string, string> = { 'X-Upshot': pageKey.read() ?? '' }
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  const request: RequestInit = { method, headers, credentials: 'same-origin' }
  if (body !== undefined) request.body = JSON.stringify(body)
  if (signal) request.signal = signal
  const response = await fetch(urlOf(name, input), request).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ApiError(method === 'GET' ? SILENCE : LOST)
  })
  readClock(response)
  if (!response.ok) throw new ApiError(await readProblem(response))
  return response
}

/** The address of an operation with its path parameters and query. */
export function urlOf<Name extends RouteName>(name: Name, input: InputOf<Name>): string {
  const { params = {}, query = {} } = input as AnyInput
  const path = name
    .replace(/^\w+ /, '')
    .replace(/:(\w+)/g, (_, param: string) => encodeURIComponent(params[param] ?? ''))
  const url = new URL(`api/v1${path}`, document.baseURI)
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') url.searchParams.set(key, String(value))
  }
  return url.href
}

const SILENCE: ApiError['problem'] = {
  status: 0,
  code: 'not_running',
  title: 'No answer',
  detail: 'The app does not answer. What you see may be out of date.',
  fix: 'Look whether it runs: upshot status',
}

/** An act may have been done where its answer is lost. */
const LOST: ApiError['problem'] = {
  ...SILENCE,
  detail: 'The app gave no answer. It may have done this all the same: look before you repeat it.',
}

async function readProblem(response: Response): Promise<ApiError['problem']> {
  const problem = (await response.json().catch(() => null)) as Problem | null
  if (problem?.detail) return problem
  const { status, statusText } = response
  return { status, code: 'internal', title: statusText, detail: `The app answered ${status} without a reason.` }
}

/** Saves the answer of an operation as a file of the browser. Throws {@link ApiError}. */
export async function saveAnswer<Name extends RouteName>(to: Name, input: InputOf<Name>, name: string): Promise<void> {
  const response = await send(to, input, undefined)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await response.blob())
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

/** Origins share no storage, so no other page of this host can read the key. */
const name = () => `upshot.key:${new URL(document.baseURI).pathname}`

/** The half of the session that the page keeps; the other half is a cookie that it cannot read. */
export const pageKey = {
  read: (): string | null => localStorage.getItem(name()),
  save: (key: string): void => localStorage.setItem(name(), key),
  drop: (): void => localStorage.removeItem(name()),
  /** Tells when another tab logs in or out; returns the end of the telling. */
  watch(listener: () => void): () => void {
    const tell = ({ key }: StorageEvent) => (key === name() || key === null) && listener()
    addEventListener('storage', tell)
    return () => removeEventListener('storage', tell)
  },
}
