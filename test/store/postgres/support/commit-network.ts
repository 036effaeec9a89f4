import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** The fate of the next commits: answered; done and not answered; never done. */
type Commits = 'answered' | 'unanswered' | 'cut'

/** The network between a store and its server, which may lose a COMMIT or its answer. */
export class CommitNetwork {
  commits: Commits = 'answered'
  /** False: no new connection is made. */
  isOpen = true
  readonly #server
  readonly #sockets = new Set<Socket>()

  private constructor(target: number) {
    this.#server = createServer((near) => this.#join(near, target))
  }

  /** To a server on a port of this machine; closed after the test. */
  static async open(target: number): Promise<CommitNetwork> {
    const network = new CommitNetwork(target)
    network.#server.listen(0, '127.0.0.1')
    await once(network.#server, 'listening')
    onTestFinished(() => {
      network.#server.close()
      for (const socket of network.#sockets) socket.destroy()
    })
    return network
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  #join(near: Socket, target: number): void {
    if (!this.isOpen) return void near.destroy()
    const far = connect(target, '127.0.0.1')
    const end = () => {
      near.destroy()
      far.destroy()
    }
    let isDeaf = false
    near.on('data', (bytes) => {
      if (bytes.includes('COMMIT\0') && this.commits === 'cut') return end()
      isDeaf ||= bytes.includes('COMMIT\0') && this.commits === 'unanswered'
      far.write(bytes)
    })
    far.on('data', (bytes) => (isDeaf ? end() : near.write(bytes)))
    for (const socket of [near, far]) {
      this.#sockets.add(socket)
      socket.on('error', end)
      socket.on('close', end)
    }
  }
}
