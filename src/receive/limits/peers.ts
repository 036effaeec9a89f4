import type { Socket } from 'node:net'
import { addressKey } from './token-buckets.ts'

/** The part of the receiver that one address holds, over all of its connections. */
export interface Share {
  connections: number
  /** Bytes of bodies in flight. */
  bytes: number
}

interface Peer {
  share: Share
  unanswered: number
  /** Requests that came in one turn of the event loop, so before an answer to any of them. */
  inTurn: number
  /** The number of that turn. */
  turn: number
  /** It sends far more requests than it waits for, and closes once the others are answered. */
  isFlooding: boolean
  isClosing: boolean
}

/**
 * How long an address is kept out that floods below HTTP: by pipelining, or in chunks of a few
 * bytes. No proxy passes these on, so no other sender behind it suffers.
 */
const KEPT_OUT_MS = 10_000
/** Addresses that are kept out at a time; the oldest makes room. */
const MAX_KEPT_OUT = 1_000

/** Requests of a connection without an answer, or in one turn of the event loop. */
const MAX_AHEAD = 8

/** The open connections, and the share of each address that has one. */
export class Peers {
  readonly #maxConnections: number
  readonly #shares = new Map<string, Share>()
  readonly #keptOut = new Map<string, number>()
  readonly #peers = new WeakMap<Socket, Peer>()
  #turn = 0
  #isTurnOpen = false

  /** `maxConnections` of one address. */
  constructor(maxConnections: number) {
    this.#maxConnections = maxConnections
  }

  /** Closes a connection beyond the share of its address, or of one that is kept out. */
  join(socket: Socket): void {
    const key = addressKey(socket.remoteAddress)
    const share = this.#shares.get(key) ?? { connections: 0, bytes: 0 }
    if (share.connections >= this.#maxConnections || this.#isKeptOut(key)) {
      socket.destroy()
      return
    }
    share.connections += 1
    this.#shares.set(key, share)
    this.#add(socket, share)
    socket.once('close', () => {
      share.connections -= 1
      if (share.connections === 0) this.#shares.delete(key)
    })
  }

  /** A connection of another server has a share of its own. */
  of(socket: Socket): Peer {
    return this.#peers.get(socket) ?? this.#add(socket, { connections: 1, bytes: 0 })
  }

  /** False for a request of a connection that sends them without waiting for answers. */
  admitRequest(socket: Socket): boolean {
    const peer = this.of(socket)
    this.#openTurn()
    if (peer.turn !== this.#turn) {
      peer.turn = this.#turn
      peer.inTurn = 0
    }
    peer.inTurn += 1
    if (!peer.isFlooding && (peer.inTurn > MAX_AHEAD || peer.unanswered >= MAX_AHEAD)) {
      peer.isFlooding = true
      this.keepOut(socket)
    }
    if (!peer.isFlooding) {
      peer.unanswered += 1
      return true
    }
    socket.pause()
    if (peer.unanswered === 0) close(socket, peer)
    return false
  }

  finishRequest(socket: Socket): void {
    const peer = this.of(socket)
    peer.unanswered -= 1
    if (peer.isFlooding && peer.unanswered === 0) close(socket, peer)
  }

  /** Closes new connections of this address for ten seconds. */
  keepOut(socket: Socket): void {
    const key = addressKey(socket.remoteAddress)
    this.#keptOut.delete(key)
    if (this.#keptOut.size >= MAX_KEPT_OUT) this.#keptOut.delete(this.#keptOut.keys().next().value ?? '')
    this.#keptOut.set(key, performance.now() + KEPT_OUT_MS)
  }

  #isKeptOut(key: string): boolean {
    const until = this.#keptOut.get(key)
    if (until === undefined) return false
    if (performance.now() < until) return true
    this.#keptOut.delete(key)
    return false
  }

  #add(socket: Socket, share: Share): Peer {
    const peer = { share, unanswered: 0, inTurn: 0, turn: 0, isFlooding: false, isClosing: false }
    this.#peers.set(socket, peer)
    return peer
  }

  #openTurn(): void {
    if (this.#isTurnOpen) return
    this.#isTurnOpen = true
    this.#turn += 1
    setImmediate(() => {
      this.#isTurnOpen = false
    })
  }
}

/** Closes it behind its last answer, once: each call of `destroySoon` adds a listener. */
function close(socket: Socket, peer: Peer): void {
  if (peer.isClosing) return
  peer.isClosing = true
  socket.destroySoon()
}
