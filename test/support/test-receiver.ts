import supertest from 'supertest'
import { onTestFinished } from 'vitest'
import { type Endpoint, planEndpoint } from '../../src/core/incoming/endpoint.ts'
import type { Notice } from '../../src/core/notices.ts'
import { ManualClock } from '../../src/core/time.ts'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'
import { Receiver, type ReceiverParts } from '../../src/receive/receiver.ts'
import { NOW } from './fixtures.ts'
import { opensslHmac } from './sign.ts'
import { openTestStore } from './test-store.ts'

export const SECRET = 'canary-secret-0123456789abcdef'

/** Starts the real receiver with one endpoint whose events start the workflow `follow-up`. */
export async function createTestReceiver(parts: Partial<ReceiverParts> & { endpoint?: Partial<Endpoint> } = {}) {
  const store = openTestStore()
  const clock = new ManualClock(NOW)
  const notices = createNoticeBus()
  const heard: Notice[] = []
  notices.subscribe('*', (notice) => heard.push(notice))
  const endpoint = { ...planEndpoint({ name: 'main', secret: SECRET }, NOW), ...parts.endpoint }
  await store.addEndpoint(endpoint)
  const receiver = new Receiver({
    store,
    intake: store,
    clock,
    publish: notices.publish,
    routes: () => [{ eventType: '*', workflow: 'follow-up' }],
    ...parts,
  })
  const url = await receiver.start({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => receiver.stop())
  const path = `/hooks/${endpoint.path}`
  return {
    store,
    clock,
    notices,
    heard,
    endpoint,
    receiver,
    url,
    path,
    /** Posts a body as the service would. `headers` replace its headers; undefined removes one. */
    post(body: string | Buffer, headers: Record<string, string | undefined> = {}, to = path) {
      const all: Record<string, string | undefined> = {
        'Content-Type': 'application/json',
        // Signs only when needed.
        ...('X-Service-Signature' in headers ? {} : { 'X-Service-Signature': opensslHmac(SECRET, body) }),
        ...headers,
      }
      const request = supertest(url).post(to)
      for (const [name, value] of Object.entries(all)) if (value !== undefined) request.set(name, value)
      return request.serialize((content) => content as string).send(body)
    },
  }
}
