import { activeSecrets, planEndpoint } from '../../src/core/incoming/endpoint.ts'
import { planRuns } from '../../src/core/incoming/route.ts'
import { scanJson } from '../../src/core/incoming/scan-json.ts'
import { verifySignature } from '../../src/core/incoming/signature.ts'
import { IntakeLimit } from '../../src/receive/limits/intake-limit.ts'
import { JSON_LIMITS, readEvent } from '../../src/receive/read-event.ts'
import { EVENT_TYPE, makeDelivery, SECRET } from '../deliveries.ts'
import { answerCalls } from '../processes/answer-calls.ts'

/** Measures each pure stage of an accepted delivery on its own, over different deliveries. */
const NOW = Date.UTC(2026, 0, 5, 9, 31, 14)
const DIFFERENT = 2_000

const endpoint = planEndpoint({ name: 'bench', secret: SECRET }, NOW)
const routes = [{ eventType: EVENT_TYPE, workflow: 'measured' }]
const intake = new IntakeLimit({ endpointBurst: 1e9, addressBurst: 1e9 }, () => null)
const deliveries = Array.from({ length: DIFFERENT }, () => {
  const { signature, body } = makeDelivery()
  return { body: Buffer.from(body), text: body, header: () => signature }
})
type Delivery = (typeof deliveries)[number]

const STAGES = {
  intake: () => [intake.admit('127.0.0.1', NOW), intake.admitTo(endpoint.id, NOW), intake.checkQueue()],
  verify: (delivery: Delivery) => verifySignature(endpoint.scheme, activeSecrets(endpoint, NOW), delivery, NOW),
  scan: ({ text }: Delivery) => scanJson(text, JSON_LIMITS),
  /** Includes the scan. */
  parse: ({ body }: Delivery) => readEvent(body),
  plan: () => planRuns(EVENT_TYPE, routes),
} satisfies Record<string, (delivery: Delivery) => unknown>
export type Stage = keyof typeof STAGES

/** Keeps results alive: V8 removes code whose result is unused. */
let sink: unknown

function measure(stage: Stage, rounds: number): number {
  const run: (delivery: Delivery) => unknown = STAGES[stage]
  const before = process.threadCpuUsage()
  for (let round = 0; round < rounds; round++) for (const delivery of deliveries) sink = run(delivery)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / (rounds * DIFFERENT)
}

answerCalls({
  /** Microseconds of processor time per delivery, by stage. */
  measure({ rounds }: { rounds: number }): Record<Stage, number> {
    const stages = Object.keys(STAGES) as Stage[]
    return Object.fromEntries(stages.map((stage) => [stage, measure(stage, rounds)])) as Record<Stage, number>
  },
  last: () => sink,
})
