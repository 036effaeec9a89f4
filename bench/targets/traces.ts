import type { Notice } from '../../src/core/notices.ts'
import { systemClock } from '../../src/core/time.ts'
import { openExporter } from '../../src/watch/traces/open-tracing.ts'
import { SpanQueue } from '../../src/watch/traces/span-queue.ts'
import { Tracing } from '../../src/watch/traces/tracing.ts'
import { answerCalls } from '../processes/answer-calls.ts'

/** Spans of a run of three steps, with its delivery. */
const SPANS = 5
/** Runs whose spans make a batch. */
const SLICE = 100

function runNotices(n: number): Notice[] {
  const event = `evt_${n}`
  const root = { kind: 'event', account: 'default', event } as const
  const about = { run: `run_${n}`, workflow: 'verify', root }
  const step = { kind: 'step.completed', ...about, effect: 'write', target: null, attempt: 1, ms: 1 } as const
  const delivery = { delivery: `dlv_${n}`, endpoint: 'end_1', endpointName: 'main', account: 'default', event } as const
  const facts = { type: 'file.created', subject: null, runs: 1, workflows: ['verify'], facts: {}, ms: 1 }
  return [
    { kind: 'delivery.received', verdict: 'accepted', ...delivery, ...facts },
    { kind: 'run.started', ...about, origin: 'event', waitedMs: 1 },
    { ...step, step: 'one' },
    { ...step, step: 'two' },
    { ...step, step: 'three' },
    { kind: 'run.completed', ...about, parentRun: null, ms: 3, steps: 3 },
  ]
}

async function open(collector: string) {
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector
  const exporter = await openExporter({ resource: { 'service.name': 'bench' }, version: '0' })
  const send: typeof exporter.send = (spans) => exporter.send(spans)
  const queue = new SpanQueue({ send, clock: systemClock, delayMs: 1_000, failed: () => {} })
  return { queue, tracing: new Tracing({ queue, now: () => systemClock.now(), ratio: 1 }) }
}

/** Microseconds of processor time that this process spends on a span, once its code is compiled. */
async function measure(runs: number, trace: (from: number, to: number) => Promise<void>): Promise<number> {
  await trace(0, runs)
  const before = process.cpuUsage()
  await trace(runs, 2 * runs)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / (runs * SPANS)
}

answerCalls({
  /** Each batch is taken before the next one is made; none may be dropped. */
  async sentMicros({ runs, collector }: { runs: number; collector: string }): Promise<number> {
    const { queue, tracing } = await open(collector)
    const micros = await measure(runs, async (from, to) => {
      for (let n = from; n < to; n++) {
        for (const notice of runNotices(n)) tracing.trace(notice)
        if (n % SLICE === SLICE - 1) await queue.stop()
      }
    })
    if (queue.dropped > 0) throw new Error(`the collector did not take ${queue.dropped} spans`)
    return micros
  },
  /** Nearly all spans are dropped, because the collector never answers. */
  async hangingMicros({ runs, collector }: { runs: number; collector: string }): Promise<number> {
    const { queue, tracing } = await open(collector)
    const micros = await measure(runs, async (from, to) => {
      for (let n = from; n < to; n++) for (const notice of runNotices(n)) tracing.trace(notice)
    })
    if (queue.dropped < runs) throw new Error(`only ${queue.dropped} spans were dropped`)
    return micros
  },
})
