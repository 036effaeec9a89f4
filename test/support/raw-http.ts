import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A TCP connection for raw bytes. */
export interface RawConnection {
  socket: Socket
  /** Resolves when the bytes are sent, with false if the other side has closed. */
  write(bytes: string | Uint8Array): Promise<boolean>
  /** Status line and headers of the first answer; empty if the other side closes before it. */
  answer: Promise<string>
  /** Resolves when the other side has closed. */
  closed: Promise<void>
}

/** Opens a connection that is closed after the test. */
export async function openRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  // The other side may close with a reset.
  socket.on('error', () => {})
  const answer = readAnswer(socket, closed)
  await Promise.race([once(socket, 'connect'), closed])
  return { socket, answer, closed, write: (bytes) => write(socket, bytes) }
}

function write(socket: Socket, bytes: string | Uint8Array): Promise<boolean> {
  if (socket.destroyed) return Promise.resolve(false)
  return new Promise((resolve) => {
    const lost = () => resolve(false)
    socket.once('close', lost)
    socket.write(bytes, (error) => {
      socket.off('close', lost)
      resolve(!error)
    })
  })
}

async function readAnswer(socket: Socket, closed: Promise<void>): Promise<string> {
  let text = ''
  const headEnd = new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '').includes('\r\n\r\n')) resolve()
    })
  })
  await Promise.race([headEnd, closed])
  return text
}

/** Head of a delivery's request, with its empty line. */
export function requestHead(path: string, headers: Record<string, string | number>): string {
  const all = { Host: 'receiver', 'Content-Type': 'application/json', ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return [`POST ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n')
}
