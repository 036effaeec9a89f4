import dgram from 'node:dgram'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { UpshotError } from '../../core/errors.ts'
import { processEnvironment } from '../../project/config/environment.ts'

// Loaded before all other code of a rehearsal, in each of its threads. Node's permission model
// keeps writes in its folder; these hooks keep connections in its sandbox.

/** The variable with the hosts that may be reached, as `host:port` or `host`. */
const REACH = 'UPSHOT_REHEARSAL_REACH'

const reachable = new Set((processEnvironment()[REACH] ?? '').split(',').filter((each) => each !== ''))
let tell = (_host: string) => {}

/** Told each host that a workflow asked for and did not get. */
export function onRefused(told: (host: string) => void): void {
  tell = told
}

function ask(host: string, port: unknown): void {
  if (reachable.has(host) || reachable.has(`${host}:${port}`)) return
  const place = port === undefined ? host : `${host}:${port}`
  tell(place)
  throw new UpshotError('undeclared_effect', `A rehearsal reaches only its sandbox, so ${place} is refused.`, {
    details: { fix: `Let it reach this host with --allow-host ${host}, if that is what you want.` },
  })
}

function askConnection(given: readonly unknown[]): void {
  // Node's own callers give an array of the options and the callback.
  const [first, second] = Array.isArray(given[0]) ? given[0] : given
  if (typeof first === 'object' && first !== null) {
    const { host = 'localhost', port, path } = first as { host?: unknown; port?: unknown; path?: unknown }
    if (path == null) ask(String(host), port)
    else ask(String(path), undefined)
  } else if (typeof first === 'number' || /^\d+$/.test(String(first))) {
    ask(typeof second === 'string' ? second : 'localhost', first)
  } else {
    ask(String(first), undefined)
  }
}

type Call = (this: unknown, ...given: unknown[]) => unknown

const socket = net.Socket.prototype as unknown as Record<string, Call>
const { connect } = socket
socket.connect = function (...given) {
  askConnection(given)
  return connect?.apply(this, given)
}
const server = net.Server.prototype as unknown as Record<string, Call>
const { listen } = server
// The app tries its own endpoints.
server.listen = function (this: net.Server, ...given) {
  this.once('listening', () => {
    const address = this.address()
    if (address !== null && typeof address === 'object') reachable.add(`127.0.0.1:${address.port}`)
  })
  return listen?.apply(this, given)
} as Call
const datagrams = dgram.Socket.prototype as unknown as Record<string, Call>
for (const name of ['send', 'connect', 'bind']) {
  datagrams[name] = () => ask('a datagram socket', undefined)
}
syncBuiltinESMExports()
