import { activeSecrets, planEndpoint } from '../../src/core/incoming/endpoint.ts'
import { planRuns } from '../../src/core/incoming/route.ts'
import { verifySignature } from '../../src/core/incoming/signature.ts'
import { IntakeLimit } from '../../src/receive/limits/intake.ts'
import { readEvent, scanJson } from '../../src/receive/read-event.ts'
import { EVENT_TYPE, makeDelivery, SECRET } from '../deliveries.ts'
import { answerCalls } from './answer-calls.ts'

/**
 * The processor time that each pure stage of an accepted delivery takes, alone in a process and
 * over deliveries that all differ.
 */
const NOW = Date.UTC(2026, 0, 5, 9, 31, 14)
const DIFFERENT = 2_000

const endpoint = planEndpoint({ name: 'bench', secret: SECRET }, NOW)
const routes = [{ eventType: EVENT_TYPE, workflow: 'measured' }]
const gate = new IntakeLimit({ endpointBurst: 1e9, addressBurst: 1e9 }, () => false)
const deliveries = Array.from({ length: DIFFERENT }, () => {
  const { signature, body } = makeDelivery()
  return { body: Buffer.from(body), text: body, header: () => signature }
})
type Delivery = (typeof deliveries)[number]

const STAGES = {
  gate: () => [gate.admit('127.0.0.1', NOW), gate.admitTo(endpoint.id, NOW), gate.checkQueue()],
  verify: (delivery: Delivery) => verifySignature(endpoint.scheme, activeSecrets(endpoint, NOW), delivery, NOW),
  scan: ({ text }: Delivery) => scanJson(text),
  /** With the scan. */
  parse: ({ body }: Delivery) => readEvent(body),
  plan: () => planRuns(EVENT_TYPE, routes),
} satisfies Record<string, (delivery: Delivery) => unknown>
export type Stage = keyof typeof STAGES

/** Keeps results alive, or the compiler would see that nobody wants them. */
let sink: unknown

function measure(stage: Stage, rounds: number): number {
  const run: (delivery: Delivery) => unknown = STAGES[stage]
  const before = process.threadCpuUsage()
  for (let round = 0; round < rounds; round++) for (const delivery of deliveries) sink = run(delivery)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / (rounds * DIFFERENT)
}

answerCalls({
  /** Microseconds of processor time of each stage, once. */
  measure({ rounds }: { rounds: number }): Record<Stage, number> {
    const stages = Object.keys(STAGES) as Stage[]
    return Object.fromEntries(stages.map((stage) => [stage, measure(stage, rounds)])) as Record<Stage, number>
  },
  last: () => sink,
})
