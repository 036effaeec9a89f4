import dgram from 'node:dgram'
import dns from 'node:dns'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net from 'node:net'
import { SAFE_METHODS } from '../../../engine/pass/outside/undeclared.ts'
import { type CurrentStep, stepAtWork } from '../../../engine/pass/scope.ts'
import { ask, askBefore, describeRefusal, note, refuse, replace } from './refusals.ts'

const sockets = new WeakMap<CurrentStep, Set<net.Socket>>()

/** Asks about each request and connection of this process. */
export function hookNetwork(): void {
  hookRequests()
  hookHttp2()
  hookConnections()
}

/** A pooled connection opens no new one, so each request is asked as well. */
function askRequests(module: object, of: string): void {
  for (const name of ['request', 'get']) {
    replace(
      module,
      name,
      (real) =>
        function (this: unknown, ...given) {
          const method = readMethod(given)
          ask(`${of} ${method}`, { method })
          return real.apply(this, given)
        },
    )
  }
}

/** Later arguments override earlier ones, as options do with an address. */
function readMethod(given: readonly unknown[]): string {
  const methods = given.map((each) => (typeof each === 'object' ? (each as { method?: unknown } | null)?.method : null))
  return (methods.findLast((method) => typeof method === 'string') ?? 'GET').toUpperCase()
}

/** A class that asks before each of its objects is made. */
function askBeforeNew<Made extends new (...given: never[]) => object>(
  made: Made,
  asks: (given: readonly unknown[]) => void,
): Made {
  return new Proxy(made, {
    construct(real, given, target) {
      asks(given)
      return Reflect.construct(real, given, target)
    },
  })
}

function hookRequests(): void {
  askRequests(http, 'http')
  askRequests(https, 'https')
  // `http.request` makes its own, which this one does not meet.
  http.ClientRequest = askBeforeNew(http.ClientRequest, (given) => {
    const method = readMethod(given)
    ask(`http ${method}`, { method })
  })
  replace(globalThis, 'fetch', (real) => async (...given: never[]) => {
    const method = readMethod(given)
    ask(`fetch ${method}`, { method })
    return real(...given)
  })
  for (const name of ['WebSocket', 'EventSource'] as const) {
    const asking = askBeforeNew(globalThis[name] ?? class {}, () => ask(name, 'network'))
    Object.defineProperty(globalThis, name, { value: asking, configurable: true, writable: true })
  }
}

/** Requests of a session are asked one by one. */
function hookHttp2(): void {
  let isHooked = false
  replace(
    http2,
    'connect',
    (real) =>
      function (this: unknown, ...given) {
        ask('http2.connect', null)
        const session = real.apply(this, given) as http2.ClientHttp2Session
        if (!isHooked) hookSessions(Object.getPrototypeOf(session))
        isHooked = true
        return session
      },
  )
}

function hookSessions(sessions: object): void {
  replace(
    sessions,
    'request',
    (real) =>
      function (this: unknown, ...given) {
        const [headers = {}] = given as unknown as [Record<string, unknown> | string[] | undefined]
        const named = Array.isArray(headers) ? headers[headers.indexOf(':method') + 1] : headers[':method']
        const method = Array.isArray(headers) && !headers.includes(':method') ? 'GET' : String(named ?? 'GET')
        ask(`http2 ${method}`, { method })
        return real.apply(this, given)
      },
  )
}

function hookConnections(): void {
  replace(
    net.Socket.prototype,
    'connect',
    (real) =>
      function (this: net.Socket, ...given) {
        ask('connect', null)
        closeWithStep(this)
        judgeWrites(this)
        return real.apply(this, given)
      },
  )
  refuse(net.Server.prototype, ['listen'], 'net.Server.')
  const trusted = { sends: 'network' } as const
  askBefore(dgram.Socket.prototype, ['send', 'connect', 'bind', 'addMembership'], { of: 'dgram.', ...trusted })
  // A connection looks its host up, so a read may.
  for (const module of [dns, dns.promises]) askBefore(module, ['lookup'], { of: 'dns.', sends: null })
  for (const [of, module] of Object.entries({
    'dns.': dns,
    'dns.promises.': dns.promises,
    'dns.Resolver.': dns.Resolver.prototype,
    'dns.promises.Resolver.': dns.promises.Resolver.prototype,
  })) {
    const queries = Object.keys(module).filter((name) => /^(resolve|reverse|lookupService)/.test(name))
    askBefore(module, queries, { of, ...trusted })
  }
}

/** The connections of a step end with it. */
function closeWithStep(socket: net.Socket): void {
  const step = stepAtWork()
  if (step === null) return
  const open = sockets.get(step) ?? new Set()
  sockets.set(step, open.add(socket))
  step.onOver = () => {
    for (const each of open) each.destroy()
  }
}

interface Written {
  chunk: Buffer | string
  encoding: BufferEncoding
}

/** A library may speak to a connection itself, so all that is written to one is looked at. */
function judgeWrites(socket: net.Socket): void {
  const requests = new WrittenRequests()
  const findRefusal = (parts: readonly Written[]) => {
    const method = requests.judge(parts.map(readText).join(''))
    if (method === null) return null
    const sends = method === 'bytes' ? 'network' : { method }
    const found = note(`connection ${method}`, sends)
    return found && describeRefusal(found, sends)
  }
  const { _write: write, _writev: writev } = socket
  socket._write = (chunk, encoding, done) => {
    const refusal = findRefusal([{ chunk, encoding }])
    if (refusal) done(refusal)
    else write.call(socket, chunk, encoding, done)
  }
  socket._writev = (chunks, done) => {
    const refusal = findRefusal(chunks)
    if (refusal) done(refusal)
    else writev?.call(socket, chunks, done)
  }
}

/** Bytes as characters of one byte each. */
function readText({ chunk, encoding }: Written): string {
  return (typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk).toString('latin1')
}

const END_OF_HEAD = '\r\n\r\n'

/**
 * Judges what is written to one connection. Requests of HTTP/1.1 that change nothing, and have no
 * body, are all that it lets through, whichever library writes them.
 */
class WrittenRequests {
  /** The head of the request that is being written. */
  #head = ''

  /** The method of a request that may change something; `bytes`: no request; null: neither. */
  judge(text: string): string | null {
    let rest = this.#head + text
    this.#head = ''
    while (rest !== '') {
      const [method] = /^[A-Z]+(?= )/.exec(rest) ?? []
      if (method !== undefined && !SAFE_METHODS.has(method)) return method
      if (method === undefined && !mayBecomeSafe(rest)) return 'bytes'
      const end = rest.indexOf(END_OF_HEAD)
      if (end === -1) {
        this.#head = rest
        return null
      }
      rest = rest.slice(end + END_OF_HEAD.length)
    }
    return null
  }
}

/** A method may come in pieces. */
function mayBecomeSafe(beginning: string): boolean {
  return [...SAFE_METHODS].some((method) => method.startsWith(beginning))
}
