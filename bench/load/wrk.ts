import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { ID_BYTES, requestParts, SIGNATURE_BYTES } from '../deliveries.ts'
import { runProgram } from '../processes/child.ts'
import type { Burst, BurstResult, LoadGenerator } from './load-generator.ts'

const SCRIPT = join(import.meta.dirname, 'wrk.lua')

/** The line that the script prints at the end. Times are in microseconds. */
const summary = z.object({
  requests: z.number(),
  micros: z.number(),
  refused: z.number(),
  broken: z.number(),
  p50: z.number(),
  p99: z.number(),
})

/** A load generator that runs wrk; null where wrk is not installed. */
export function openWrk(folder: string): LoadGenerator | null {
  if (spawnSync('wrk', ['-v']).error) return null
  // One thread of wrk outruns any Node server. On two cores a second thread would slow the server.
  const threads = availableParallelism() >= 4 ? 2 : 1
  return {
    name: `wrk, threads: ${threads}`,
    send: (burst) => send(folder, threads, burst),
    async [Symbol.asyncDispose]() {},
  }
}

async function send(folder: string, threads: number, burst: Burst): Promise<BurstResult> {
  const { path, from, count } = burst.deliveries
  const parts = requestParts(burst.url).map((text, index) => {
    const file = join(folder, `request-${index}.txt`)
    writeFileSync(file, text)
    return file
  })
  const settings = ['-t', threads, '-c', burst.connections, '-d', `${burst.seconds}s`, '--timeout', '10s', '-s', SCRIPT]
  const given = [path, ID_BYTES, SIGNATURE_BYTES, from, count, threads, ...parts]
  const output = await runProgram('wrk', [...settings, burst.url, '--', ...given].map(String), burst.seconds + 20)
  return readSummary(output)
}

function readSummary(output: string): BurstResult {
  const line = output.trim().split('\n').at(-1) ?? ''
  const { requests, micros, refused, broken, p50, p99 } = summary.parse(JSON.parse(line))
  if (refused + broken > 0) {
    throw new Error(`wrk had ${refused} answers that were not 200 and ${broken} broken connections. ${output}`)
  }
  return { answered: requests, perSecond: (requests / micros) * 1e6, p50Ms: p50 / 1_000, p99Ms: p99 / 1_000 }
}
