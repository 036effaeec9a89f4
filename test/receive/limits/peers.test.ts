import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Peers } from '../../../src/receive/limits/peers.ts'

test('a flooding connection that has yet to read its answers is closed once, without piling up listeners', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
  onTestFinished(() => void client.destroy())
  const [socket]: Socket[] = await once(server, 'connection')
  if (!socket) throw new Error('a client connected')
  onTestFinished(() => void socket.destroy())
  const peers = new Peers(10)
  peers.join(socket)
  const before = socket.listenerCount('finish')
  // More than the kernel buffers, so that the socket cannot finish.
  socket.write(Buffer.alloc(33_554_432))
  for (let n = 0; n < 9; n++) peers.admitRequest(socket)
  for (let n = 0; n < 8; n++) peers.finishRequest(socket)
  for (let n = 0; n < 20; n++) expect(peers.admitRequest(socket)).toBe(false)
  expect(socket.destroyed).toBe(false)
  expect(socket.listenerCount('finish') - before).toBe(1)
})
