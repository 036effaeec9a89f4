import { context, trace } from '@opentelemetry/api'
import { expect, onTestFinished, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { stepSpanIdOf, traceIdOf } from '../../../src/core/runs/trace.ts'
import { runInSpan } from '../../../src/watch/traces/run-in-span.ts'
import { startTestApp } from '../../support/test-app.ts'
import { startCollector } from '../support/collector.ts'

/** Sets variables that the exporter reads itself, for one test. */
function setVariables(values: Record<string, string>): void {
  for (const [name, value] of Object.entries(values)) process.env[name] = value
  onTestFinished(() => {
    for (const name of Object.keys(values)) delete process.env[name]
  })
}

const TRACES = { resource: { 'service.name': 'shop' }, ratio: 1, delayMs: 50 }

test('a collector gets one trace for each event, from delivery to HTTP call, in the form of the protocol', async () => {
  const collector = await startCollector()
  setVariables({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: 'x-key=secret' })
  const look = defineWorkflow({
    id: 'look',
    on: 'file.created',
    run: async ({ event, files, step }) => {
      const { id } = event.data.file as { id: string }
      await files.get({ service: 'storage_a', id })
      await step.run('note', () => 'seen')
    },
  })
  const { app, sandbox, hear } = await startTestApp({ workflows: [look] }, { config: { traces: TRACES } })
  await sandbox.faults.add({ on: 'files.get', status: 503, times: 1 })
  await sandbox.storage('storage_a').put('/in/traced.txt', 'traced')
  const delivery = await hear('delivery.received', ({ subject }) => subject === '/in/traced.txt')
  await hear('run.completed', ({ root }) => root?.kind === 'event' && root.event === delivery.event)
  await app.stop()
  expect(collector.faults).toEqual([])
  expect(collector.headers[0]).toMatchObject({ 'x-key': 'secret' })
  const traceId = traceIdOf({ kind: 'event', account: 'default', event: delivery.event ?? '' })
  const spans = collector.spans.filter((span) => span.traceId === traceId)
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name.replace(/\[.*/, '')]))
  // The number of a kind: 1 internal, 2 server, 3 client, 5 consumer.
  const tree = spans.map(({ spanId, parentSpanId, kind }) => [names.get(spanId), names.get(parentSpanId ?? ''), kind])
  expect(tree.sort()).toEqual([
    ['POST /hooks/{endpoint}', undefined, 2],
    ['files.get', 'step files.get', 3],
    ['run look', 'POST /hooks/{endpoint}', 5],
    ['step files.get', 'run look', 1],
    ['step note', 'run look', 1],
  ])
  expect(names.size).toBe(spans.length)
  const run = spans.find(({ name }) => name === 'run look')
  expect(run?.attributes).toContainEqual({ key: 'upshot.start_delay_ms', value: { intValue: expect.any(Number) } })
  // The fault may have met the call of another file.
  const events = collector.spans.flatMap((span) => span.events.map((event) => `${span.name} ${event.name}`))
  expect(events).toContain('files.get retry')
  expect(new Set(spans.map(({ service }) => JSON.stringify(service)))).toEqual(new Set(['{"stringValue":"shop"}']))
})

test("an author's span hangs below the step, where the project has set up OpenTelemetry", () => {
  const root = { kind: 'event', account: 'default', event: 'evt_1' } as const
  const caller = { run: 'run_1', workflow: 'look', root, step: 'note', attempt: 1 }
  const seen = () => trace.getSpanContext(context.active())
  expect(runInSpan(caller, seen)).toBeUndefined()
  let active = context.active()
  context.setGlobalContextManager({
    active: () => active,
    with: (given, call, self, ...args) => {
      const before = active
      active = given
      try {
        return call.call(self as never, ...args)
      } finally {
        active = before
      }
    },
    bind: (_given, target) => target,
    enable() {
      return this
    },
    disable() {
      return this
    },
  })
  onTestFinished(() => context.disable())
  const spanId = stepSpanIdOf('run_1', 'note', 1)
  expect(runInSpan(caller, seen)).toMatchObject({ traceId: traceIdOf(root), spanId, isRemote: true })
})
