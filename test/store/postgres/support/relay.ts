import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** One address for several servers of this machine, which take turns. Closed after the test. */
export async function openRelay(...ports: [number, ...number[]]): Promise<{ port: number; swallow(): void }> {
  const sockets = new Set<Socket>()
  let turns = 0
  let isSwallowing = false
  const server = createServer((near) => {
    const far = connect(ports[turns++ % ports.length] ?? 0, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('data', (bytes) => void (isSwallowing || to.write(bytes)))
      from.on('close', () => isSwallowing || to.destroy())
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    /** From now on no byte arrives, on present and new connections. */
    swallow() {
      isSwallowing = true
    },
  }
}
