import type { Problem, WorkDone } from '../contract/route.ts'
import type { AnswerOf, InputOf, RouteName } from '../contract/routes.ts'

/** How a client reaches the admin API. */
export interface AdminClientOptions {
  /** Address of the admin server with its base path, such as `http://127.0.0.1:4701`. */
  url: string
  /** Token of a script; left out in a browser that has logged in. */
  token?: string
  /** Further headers of each request, such as the page key. Default: none. */
  headers?: () => Record<string, string>
  /** Default: the global `fetch`. */
  fetch?: typeof fetch
  /** Time for an answer in milliseconds. Default 30,000. */
  timeoutMs?: number
}

/** Per call. */
export interface CallOptions {
  signal?: AbortSignal
  /** The same key within 24 h gets the first answer again, and nothing is done twice. */
  idempotencyKey?: string
  /** Called with how far a long operation is. The answer then takes as long as it takes. */
  onProgress?: (work: WorkDone) => void
}

export class AdminApiError extends Error {
  override readonly name = 'AdminApiError'
  readonly status: number
  readonly code: string
  /** The next thing to do; null where the API names none. */
  readonly fix: string | null
  readonly problem: Problem | null

  constructor(status: number, problem: Problem | null) {
    super(problem?.detail ?? `The admin API answered HTTP ${status}.`)
    this.status = status
    this.code = problem?.code ?? 'unknown'
    this.fix = problem?.fix ?? null
    this.problem = problem
  }
}

/** Arguments of a call: none are needed where an operation takes neither parameters nor body. */
type Arguments<Name extends RouteName> =
  unknown extends InputOf<Name>
    ? [input?: InputOf<Name>, options?: CallOptions]
    : object extends InputOf<Name>
      ? [input?: InputOf<Name>, options?: CallOptions]
      : [input: InputOf<Name>, options?: CallOptions]

/** The input of an operation, whatever it is. */
export interface AnyInput {
  params?: Record<string, string>
  query?: Record<string, unknown>
  body?: unknown
}

const TIMEOUT_MS = 30_000

/** A typed client of the admin API: `client.call('GET /runs', { query: { status: 'failed' } })`. */
export class AdminClient {
  readonly #options: AdminClientOptions

  constructor(options: AdminClientOptions) {
    this.#options = options
  }

  /** Performs one operation. Throws {@link AdminApiError} for an answer of 400 and above. */
  async call<Name extends RouteName>(name: Name, ...[input, options = {}]: Arguments<Name>): Promise<AnswerOf<Name>> {
    const { params = {}, query = {}, body } = (input ?? {}) as AnyInput
    const [method = 'GET', path = ''] = name.split(' ')
    const response = await this.#send(method, fillPath(path, params) + writeQuery(query), body, options)
    if (response.headers.get('content-type')?.startsWith(EVENTS)) return (await readTold(response, options)) as never
    const text = await response.text()
    if (response.ok) return (text === '' ? undefined : JSON.parse(text)) as AnswerOf<Name>
    throw new AdminApiError(response.status, readProblem(text))
  }

  /** The bytes of an operation that answers so, as they come. */
  async *stream<Name extends RouteName>(name: Name, ...[input, options = {}]: Arguments<Name>) {
    const { params = {}, query = {}, body } = (input ?? {}) as AnyInput
    const [method = 'GET', path = ''] = name.split(' ')
    const given = { ...options, isEndless: true } as const
    const response = await this.#send(method, fillPath(path, params) + writeQuery(query), body, given)
    if (!response.ok) throw new AdminApiError(response.status, readProblem(await response.text()))
    yield* response.body ?? []
  }

  /** The events of an operation that tells its progress, as they come. */
  async *events<Name extends RouteName>(name: Name, ...given: Arguments<Name>): AsyncGenerator<AnswerOf<Name>> {
    yield* readEvents<AnswerOf<Name>>(this.stream(name, ...given))
  }

  /** The items of a list, page after page, until nothing older is left. */
  async *list<Name extends Listed>(name: Name, input?: InputOf<Name>): AsyncGenerator<ItemOf<Name>> {
    let after: string | null = null
    do {
      const { query, ...rest } = (input ?? {}) as AnyInput
      const paged = { ...rest, query: { ...query, ...(after === null ? {} : { after }) } }
      const page = (await this.call(name, ...([paged] as unknown as Arguments<Name>))) as unknown as PageOf<
        ItemOf<Name>
      >
      yield* page.items
      after = page.next
    } while (after !== null)
  }

  #send(method: string, path: string, body: unknown, options: CallOptions & { isEndless?: true }) {
    const { signal, idempotencyKey, onProgress, isEndless = onProgress !== undefined } = options
    const { url, token, headers, fetch: send = fetch, timeoutMs = TIMEOUT_MS } = this.#options
    const limit = isEndless ? new AbortController().signal : AbortSignal.timeout(timeoutMs)
    return send(`${url}/api/v1${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(onProgress === undefined ? {} : { accept: EVENTS }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        ...headers?.(),
      },
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }
}

const EVENTS = 'text/event-stream'

/** Tells the progress of a long operation, and resolves to its answer. */
async function readTold({ body }: Response, { onProgress }: CallOptions): Promise<unknown> {
  const events = readEvents<{ progress?: WorkDone; answer?: unknown; problem?: Problem }>(body ?? [])
  for await (const { progress, answer, problem } of events) {
    if (progress !== undefined) onProgress?.(progress)
    else if (problem !== undefined) throw new AdminApiError(problem.status, problem)
    else return answer
  }
  throw new AdminApiError(502, CUT_OFF)
}

const CUT_OFF: Problem = {
  type: 'urn:upshot:service_failed',
  title: 'The answer was cut off',
  status: 502,
  code: 'service_failed',
  detail: 'The connection ended before the answer.',
  request: '',
  fix: 'Check whether it took effect, then ask again.',
}

async function* readEvents<Event>(chunks: AsyncIterable<Uint8Array> | []): AsyncGenerator<Event> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const events = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) yield JSON.parse(event.slice('data: '.length)) as Event
  }
}

interface PageOf<Item> {
  items: Item[]
  next: string | null
}

type Listed = {
  [Name in RouteName]: AnswerOf<Name> extends PageOf<unknown> ? Name : never
}[RouteName]
type ItemOf<Name extends Listed> = AnswerOf<Name> extends PageOf<infer Item> ? Item : never

function fillPath(path: string, params: Record<string, string>): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
}

function writeQuery(query: Record<string, unknown>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((each): [string, string] => [name, String(each)]),
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

function readProblem(text: string): Problem | null {
  try {
    return JSON.parse(text) as Problem
  } catch {
    return null
  }
}
