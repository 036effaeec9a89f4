import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UpshotError } from '../../core/errors.ts'

/** A server on this machine's own address. */
export interface Listening {
  server: Server
  port: number
  /** Stops accepting and cuts what is open. */
  close(): Promise<void>
}

/** Throws `conflict` when the port is taken; 0 takes a free one. */
export async function listenLocally(handler: RequestListener, port: number): Promise<Listening> {
  const server = createServer(handler)
  server.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new UpshotError('conflict', `Port ${port} cannot be listened on. Choose another, or 0 for a free one.`, {
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

/** Every way to write this machine's own address with a port, and what was configured besides. */
export function localHosts(port: number, more: readonly string[]): string[] {
  return [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, ...more]
}
