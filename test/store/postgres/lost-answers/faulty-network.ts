import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A moment at which a connection fails, and how it does. */
export interface Fault {
  side: 'request' | 'answer'
  /** Messages of that side that pass before; `commit`: all up to the commit of a transaction. */
  skip: number | 'commit'
  /** Share of the message that arrives all the same. 1: the server performs a lost request. */
  share: number
  /**
   * `cut`: both sides hear of the end. `swallow`: nothing arrives any more, and the server hears of
   * the end when the client has given up. `late`: the same, but the request arrives in the end.
   */
  how: 'cut' | 'swallow' | 'late'
}

/** A connection of the client, and the one to the server that stands for it. */
interface Pair {
  near: Socket
  far: Socket
  isSilent: boolean
  /** Bytes that arrive late; null: none do. */
  late: Buffer[] | null
  isInTransaction: boolean
}

/** A network to the database that fails at the moments that it is told. */
export class FaultyNetwork {
  readonly #server
  readonly #pairs = new Set<Pair>()
  #faults: Fault[] = []
  #seen = { request: 0, answer: 0 }
  /** Connections whose request has not arrived yet, although the client has given up. */
  readonly #pending = new Set<Pair>()
  #held: (() => void)[] | null = null
  /** The faults that have happened. */
  struck: Fault[] = []
  /** Called when a fault happens. */
  onStrike = () => {}

  private constructor(to: { host: string; port: number }) {
    this.#server = createServer((near) => this.#accept(near, connect(to)))
  }

  /** To the server of a URL; closed after the test. */
  static async open(url: string): Promise<FaultyNetwork> {
    const { hostname, port } = new URL(url)
    const network = new FaultyNetwork({ host: hostname, port: Number(port) })
    network.#server.listen(0, '127.0.0.1')
    await once(network.#server, 'listening')
    onTestFinished(() => network.#close())
    return network
  }

  /** The same URL through this network. */
  through(url: string): string {
    const address = this.#server.address()
    const through = new URL(url)
    through.hostname = '127.0.0.1'
    through.port = `${typeof address === 'object' && address !== null ? address.port : 0}`
    return through.href
  }

  /** The next faults, in their order. Those of before that did not happen are forgotten. */
  arm(faults: readonly Fault[]): void {
    this.#faults = [...faults]
    this.#seen = { request: 0, answer: 0 }
    this.struck = []
  }

  /** Late requests arrive after all that happened since, and the server is done with them. */
  async deliverLate(): Promise<void> {
    const ends = Array.from(this.#pending, ({ far }) => far.closed || once(far, 'close'))
    for (const pair of this.#pending) this.#release(pair)
    await Promise.all(ends)
  }

  /** Nothing passes until `resume`, and nothing is lost. */
  hold(): void {
    this.#held ??= []
  }

  resume(): void {
    const held = this.#held ?? []
    this.#held = null
    for (const pass of held) pass()
  }

  #accept(near: Socket, far: Socket): void {
    const pair: Pair = { near, far, isSilent: false, late: null, isInTransaction: false }
    this.#pairs.add(pair)
    near.on('data', (bytes) => this.#queue(() => this.#pass(pair, 'request', bytes)))
    far.on('data', (bytes) => this.#queue(() => this.#pass(pair, 'answer', bytes)))
    for (const socket of [near, far]) socket.on('error', () => {})
    far.on('close', () => !pair.isSilent && near.destroy())
    near.on('close', () => this.#give(pair))
  }

  #queue(pass: () => void): void {
    if (this.#held === null) pass()
    else this.#held.push(pass)
  }

  #pass(pair: Pair, side: Fault['side'], bytes: Buffer): void {
    if (pair.isSilent) return void (side === 'request' && pair.late?.push(bytes))
    if (side === 'request' && bytes.includes('BEGIN')) pair.isInTransaction = true
    if (side === 'answer' && pair.isInTransaction && bytes.includes('COMMIT')) pair.isInTransaction = false
    const to = side === 'request' ? pair.far : pair.near
    const fault = this.#takeFault(side, bytes.includes('COMMIT'))
    if (fault === null) return void to.write(bytes)
    const arrived = Math.floor(bytes.length * fault.share)
    if (arrived > 0) to.write(bytes.subarray(0, arrived))
    if (fault.how !== 'cut') {
      pair.isSilent = true
      pair.late = fault.how === 'late' && side === 'request' ? [bytes.subarray(arrived)] : null
    } else {
      pair.near.end()
      pair.far.end()
    }
    this.onStrike()
  }

  #takeFault(side: Fault['side'], isCommit: boolean): Fault | null {
    const [fault] = this.#faults
    if (fault?.side !== side) return null
    this.#seen[side] += 1
    if (fault.skip === 'commit' ? !isCommit : this.#seen[side] <= fault.skip) return null
    this.#faults.shift()
    this.#seen = { request: 0, answer: 0 }
    this.struck.push(fault)
    return fault
  }

  /** The client has given up. */
  #give(pair: Pair): void {
    if (pair.late === null) this.#drop(pair)
    // Rows that an unfinished transaction holds are waited for, so that it goes on at once.
    else if (pair.isInTransaction) this.#release(pair)
    else this.#pending.add(pair)
  }

  #release(pair: Pair): void {
    for (const bytes of pair.late ?? []) pair.far.write(bytes)
    this.#pending.delete(pair)
    this.#drop(pair)
  }

  #drop(pair: Pair): void {
    pair.far.end()
    this.#pairs.delete(pair)
  }

  #close(): void {
    this.#server.close()
    for (const { near, far } of this.#pairs) for (const socket of [near, far]) socket.destroy()
  }
}
