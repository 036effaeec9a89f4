import { createServer } from 'node:http'
import { z } from 'zod'
import { listen } from '../../support/listen.ts'

const value = z.strictObject({ stringValue: z.string() }).or(z.strictObject({ intValue: z.number() }))
const attributes = z.array(z.strictObject({ key: z.string().min(1), value }))
const traceId = z.string().regex(/^(?!0+$)[\da-f]{32}$/)
const spanId = z.string().regex(/^(?!0+$)[\da-f]{16}$/)
const nanos = z.string().regex(/^\d{19}$/)
const count = z.literal(0)
const flags = z.number().int().optional()

const span = z.strictObject({
  traceId,
  spanId,
  parentSpanId: spanId.optional(),
  name: z.string().min(1),
  kind: z.number().int().min(1).max(5),
  startTimeUnixNano: nanos,
  endTimeUnixNano: nanos,
  attributes,
  droppedAttributesCount: count,
  events: z.array(
    z.strictObject({ timeUnixNano: nanos, name: z.string().min(1), attributes, droppedAttributesCount: count }),
  ),
  droppedEventsCount: count,
  status: z.strictObject({ code: z.union([z.literal(0), z.literal(2)]), message: z.string().optional() }),
  links: z.array(z.strictObject({ traceId, spanId, attributes, droppedAttributesCount: count, flags })),
  droppedLinksCount: count,
  flags,
})

/** ExportTraceServiceRequest of OTLP 1.x in JSON, with nothing that the protocol does not have. */
const request = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes, droppedAttributesCount: count }),
      scopeSpans: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.literal('upshot'), version: z.string() }),
          spans: z.array(span),
        }),
      ),
    }),
  ),
})

export type ReceivedSpan = z.output<typeof span> & { service: unknown }

/** A collector over real HTTP that takes only what the protocol allows. */
export async function startCollector() {
  const spans: ReceivedSpan[] = []
  const faults: unknown[] = []
  const headers: Record<string, unknown>[] = []
  const server = createServer(async (incoming, response) => {
    try {
      const chunks: Buffer[] = []
      for await (const chunk of incoming) chunks.push(chunk as Buffer)
      if (incoming.url !== '/v1/traces' || incoming.method !== 'POST')
        throw new Error(`${incoming.method} ${incoming.url}`)
      headers.push(incoming.headers)
      for (const { resource, scopeSpans } of request.parse(JSON.parse(Buffer.concat(chunks).toString()))
        .resourceSpans) {
        const service = resource.attributes.find(({ key }) => key === 'service.name')?.value
        for (const one of scopeSpans) spans.push(...one.spans.map((each) => ({ ...each, service })))
      }
      response.setHeader('content-type', 'application/json').end('{}')
    } catch (error) {
      faults.push(error)
      response.writeHead(400).end()
    }
  })
  return { url: await listen(server), spans, faults, headers }
}
