import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { opensslHmac } from '../../support/sign.ts'
import { startTestApp } from '../../support/test-app.ts'
import { runHere } from '../support/run-here.ts'

const ship = defineWorkflow({ id: 'ship-order', on: 'order.placed', run: () => 'shipped' })

async function startLedger() {
  const started = await startTestApp({ workflows: [ship] })
  const upshot = (...args: string[]) => runHere(started.dataDir, [...args, '--json'])
  const { endpoint, secret } = (await upshot('endpoints', 'add', 'shop')).json.data
  const { url } = endpoint
  const post = async (body: string, key: string = secret) => {
    const headers = { 'content-type': 'application/json', 'x-service-signature': opensslHmac(key, body) }
    return (await fetch(url, { method: 'POST', headers, body })).status
  }
  const ids = async (...args: string[]): Promise<string[]> =>
    (await upshot('deliveries', 'list', '--endpoint', 'shop', ...args)).json.data.map(({ id }: { id: string }) => id)
  return { ...started, upshot, post, ids }
}

test('deliveries show and events show print a delivery and an event with all that belongs to them', async () => {
  const { dataDir, hear, upshot, post, ids } = await startLedger()
  const body = `{ "id": "evt_1", "type": "order.placed",  "created": "2026-06-01T11:59:58Z", "data": { "by": "Ada" } }`
  expect([await post(body), await post(body)]).toEqual([200, 200])
  const completed = await hear('run.completed', ({ workflow }) => workflow === 'ship-order')
  const [again, first] = await ids()

  expect((await upshot('deliveries', 'show', first ?? '')).json.data).toMatchObject({
    id: first,
    verdict: 'accepted',
    endpoint: 'shop',
    facts: { secret: 0 },
    event: { id: 'evt_1', type: 'order.placed', account: 'default', bodyBytes: body.length },
    runs: [{ id: completed.run, workflow: 'ship-order', status: 'completed' }],
  })
  const event = await upshot('events', 'show', 'evt_1')
  expect(event.json.data).toMatchObject({
    id: 'evt_1',
    origin: 'webhook',
    data: { by: 'Ada' },
    deliveries: [
      { id: again, verdict: 'duplicate', endpoint: 'shop' },
      { id: first, verdict: 'accepted' },
    ],
    runs: [{ id: completed.run }],
  })
  const [told, shown] = await Promise.all([
    runHere(dataDir, ['events', 'show', 'evt_1']),
    runHere(dataDir, ['deliveries', 'show', again ?? '']),
  ])
  expect(told?.stdout).toMatch(/Data\n {2}\{\n {4}"by": "Ada"\n.*Deliveries\n.*Runs\n.*ship-order +completed/s)
  expect(shown?.stdout).toMatch(/verdict +duplicate\n.*secret +matched number 0\n/s)
  expect((await upshot('deliveries', 'show', 'dlv_none')).exit).toBe(5)
  expect((await upshot('events', 'show', 'evt_none')).exit).toBe(5)
})
