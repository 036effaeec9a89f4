import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { onTestFinished } from 'vitest'

/** Lets a server listen on a free port until the test ends, and gives its origin. */
export async function listen(server: Server & { closeAllConnections?(): void }): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections?.()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
