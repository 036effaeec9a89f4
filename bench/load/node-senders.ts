import { availableParallelism } from 'node:os'
import { startProcess, type Target } from '../processes/child.ts'
import { percentile } from '../report/result.ts'
import type { Burst, BurstResult, LoadGenerator } from './load-generator.ts'
import type { ShareResult } from './sender.ts'

/** A load generator of several Node processes, for machines without wrk. */
export async function startNodeSenders(): Promise<LoadGenerator> {
  const senders = Array.from({ length: Math.max(2, availableParallelism() >> 1) }, () => startProcess('load/sender.ts'))
  return {
    name: `node, processes: ${senders.length}`,
    send: (burst) => send(senders, burst),
    async [Symbol.asyncDispose]() {
      await Promise.all(senders.map((sender) => sender[Symbol.asyncDispose]()))
    },
  }
}

async function send(senders: readonly Target[], burst: Burst): Promise<BurstResult> {
  const { connections, deliveries } = burst
  const count = Math.floor(deliveries.count / senders.length)
  const shares = await Promise.all(
    senders.map((sender, index) =>
      sender.call<ShareResult>('send', {
        ...burst,
        connections: Math.floor((connections + index) / senders.length),
        deliveries: { ...deliveries, from: deliveries.from + index * count, count },
      }),
    ),
  )
  const timesMs = shares.flatMap((share) => share.timesMs)
  const refused = shares.reduce((sum, share) => sum + share.refused, 0)
  if (refused > 0) throw new Error(`${refused} answers were not 200.`)
  return {
    answered: timesMs.length,
    perSecond: shares.reduce((sum, share) => sum + share.timesMs.length / share.seconds, 0),
    p50Ms: percentile(timesMs, 0.5),
    p99Ms: percentile(timesMs, 0.99),
  }
}
