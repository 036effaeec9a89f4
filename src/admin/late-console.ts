import type { RequestListener } from 'node:http'
import type { Console, ConsoleParts } from './console.ts'
import { BulkRunner } from './operations/bulk-runner.ts'

/** The part of the admin server beside health: it begins once the server listens. */
export interface Served {
  handler: RequestListener
  start(): void
  /** Ends the console, and the work on operations. */
  stop(): Promise<void>
}

/**
 * The console, whose modules the first request loads: an app that nobody looks at does without
 * them. Operations are worked on from the start. `port` is asked once the server listens.
 */
export function lateConsole(parts: ConsoleParts, port: () => number): Served {
  let making: Promise<Console> | null = null
  const runner = new BulkRunner(parts)
  const make = async () => (await import('./console.ts')).createConsole(parts, { port, runner })
  return {
    handler(request, response) {
      making ??= make()
      making.then(({ handler }) => handler(request, response)).catch((error) => response.destroy(error))
    },
    start: () => runner.wake(),
    async stop() {
      const console = await making
      console?.stop()
      await runner.stop()
    },
  }
}
