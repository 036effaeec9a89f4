import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { judge, type Result } from '../report/result.ts'
import type { Bench, Suite } from './suite.ts'

/** The price of spans, sent to a collector that takes them and to one that hangs. */
export const traces: Suite = {
  names: ['traces.microsPerSpan', 'traces.hangingMicrosPerSpan'],
  isSlow: true,
  run: runTraces,
}

const GOAL = { atMost: 10 }

async function runTraces(bench: Bench): Promise<Result[]> {
  const runs = bench.isQuick ? 10_000 : 50_000
  const sent = await measure(bench, 'sentMicros', { runs, answers: true })
  const hanging = await measure(bench, 'hangingMicros', { runs, answers: false })
  bench.say(`  ${sent.toFixed(1)} µs a span that is sent, ${hanging.toFixed(1)} µs where the collector hangs`)
  return [judge('traces.microsPerSpan', sent, 'µs', GOAL), judge('traces.hangingMicrosPerSpan', hanging, 'µs', GOAL)]
}

async function measure(bench: Bench, call: string, given: { runs: number; answers: boolean }): Promise<number> {
  const { runs, answers } = given
  const server = createServer((request, response) => {
    request.resume().on('end', () => answers && response.setHeader('content-type', 'application/json').end('{}'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const collector = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    await using target = bench.startTarget('traces.ts')
    await bench.patience.waitForCalm()
    return await target.call<number>(call, { runs, collector })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
