import { type Handlers, Link, type LinkMessage, postMessage } from './link.ts'

interface Served {
  /** Called where the parent is gone. Default: this process ends. */
  gone?: () => void
  /** Default: that of this process. */
  send?: typeof process.send | undefined
}

/** Answers the calls of the parent of this process. The result calls the parent. */
export function serveParent(handlers: Handlers, { gone = () => process.exit(0), send }: Served = {}): Link {
  const port = send === undefined ? process : { connected: true, send }
  const link = new Link((message) => postMessage(port, message), handlers)
  process.on('message', (message: LinkMessage) => link.receive(message))
  process.on('disconnect', gone)
  // Signals of a terminal reach both processes; the parent ends this one.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {})
  return link
}
