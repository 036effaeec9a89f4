import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerCalls } from '../processes/answer-calls.ts'

/** Reads each request and answers 200: the highest rate that a load generator can reach here. */
const server = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(200, { 'Content-Length': 2 }).end('ok'))
})

answerCalls({
  async start() {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/bare`
  },
})
