import { Agent } from 'node:http'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { EVENT_TYPE } from '../../bench/deliveries.ts'
import { deliver } from '../../bench/load/paced-deliveries.ts'
import { listen } from '../support/listen.ts'

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'

test('a delivery is sent again where its connection, which was idle, is closed in place of an answer', async () => {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.once('data', () => {
      socket.write(ANSWER)
      socket.once('data', () => socket.destroy())
    })
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const url = await listen(server)
  for (let sent = 0; sent < 2; sent++) expect(await deliver(url, agent, EVENT_TYPE)).toBeGreaterThan(0)
  expect(connections).toBe(2)
})
