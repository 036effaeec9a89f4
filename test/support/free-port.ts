import { once } from 'node:events'
import { createServer } from 'node:net'

/** Systems choose ports from 32,768 or 49,152 on for those who name none. */
const LEAST = 20_000
const MOST = 32_000

/**
 * A port for a server that is started, killed and started again. Nobody who asks the system for
 * some port is given it meanwhile.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = LEAST + Math.floor(Math.random() * (MOST - LEAST))
    const server = createServer()
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening')
      return port
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    } finally {
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
