import { once } from 'node:events'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UpshotError } from '../../core/errors.ts'

// Imported, this module would load all of undici. See decision 67.
const { createServer } = process.getBuiltinModule('node:http')

export interface Listening {
  server: Server
  port: number
  /** Stops listening and closes every open connection. */
  close(): Promise<void>
}

/** Listens on a host; port 0 picks a free one. Throws `conflict` if the port is taken. */
export async function listen(handler: RequestListener, port: number, host: string): Promise<Listening> {
  const server = createServer(handler)
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new UpshotError('conflict', `Port ${port} is taken or not allowed. Choose another, or 0 for a free one.`, {
      cause,
    })
  }
  const address = server.address() as AddressInfo
  return { server, port: address.port, close: () => closeServer(server) }
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
}

/** The host that URLs name: of a server that listens on every address, this machine. */
export function nameOf(host: string): string {
  return host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
}

/** `Host` values for this machine's own address, and the configured ones. */
export function localHosts(port: number, more: readonly string[]): string[] {
  return [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, ...more]
}
