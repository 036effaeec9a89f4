import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** The network between an app and its database. */
export class Network {
  readonly #server
  readonly #sockets = new Set<Socket>()
  readonly #silent = new WeakSet<Socket>()
  #isSwallowing = false

  private constructor(port: number) {
    this.#server = createServer({ allowHalfOpen: true }, (near) => {
      const far = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(from)
        from.on('data', (bytes) => void (this.#swallows(from) || to.write(bytes)))
        from.on('error', () => {})
        // A network that swallows everything swallows the end of a connection, too.
        from.on('end', () => void (this.#swallows(from) || to.end()))
        from.on('close', () => this.#sockets.delete(from) && !this.#swallows(from) && to.destroy())
      }
    })
  }

  /** To a server on a port of this machine; closed after the test. */
  static async open(port: number): Promise<Network> {
    const network = new Network(port)
    network.#server.listen(0, '127.0.0.1')
    await once(network.#server, 'listening')
    onTestFinished(() => network.close())
    return network
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  /** From now on, no byte arrives on either side, on present and new connections. */
  swallow(): void {
    this.#isSwallowing = true
  }

  /** From now on, no byte arrives on present connections; new ones work. */
  silence(): void {
    for (const socket of this.#sockets) this.#silent.add(socket)
  }

  /** New connections work again; what was swallowed never arrives, so that the others are dead. */
  heal(): void {
    this.#isSwallowing = false
  }

  #swallows(from: Socket): boolean {
    return this.#isSwallowing || this.#silent.has(from)
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }
}
