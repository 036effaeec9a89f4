import { expect, test } from 'vitest'
import { eventBody } from '../../../support/fixtures.ts'
import { opensslHmac } from '../../../support/sign.ts'
import { runHere } from '../../support/run-here.ts'
import { startShop } from '../../support/start-shop.ts'

test('a rotated secret is accepted beside the old one, until the old one is retired', async () => {
  const { endpoints, dataDir, post, secret } = await startShop()
  const [one, two, three] = [eventBody('evt_1'), eventBody('evt_2'), eventBody('evt_3')]
  expect(await post(one, opensslHmac(secret, one))).toBe(200)
  const before = Date.now()
  const rotated = (await endpoints('rotate', 'shop', '--overlap', '1h')).json.data
  const [old, made] = rotated.endpoint.secrets
  expect([old.position, made.position, made.until]).toEqual([0, 1, null])
  expect(Date.parse(old.until) - Date.parse(made.activeFrom)).toBe(3_600_000)
  expect(Date.parse(made.activeFrom)).toBeGreaterThanOrEqual(before)
  expect(await post(two, opensslHmac(secret, two))).toBe(200)
  expect(await post(three, opensslHmac(rotated.secret, three))).toBe(200)

  const shown = (await endpoints('show', 'shop')).json.data
  expect(shown).toMatchObject({
    status: 'active',
    scheme: { header: 'X-Service-Signature' },
    deliveries24h: { accepted: 3 },
    secrets: [
      { position: 0, until: old.until, lastUsedAt: expect.any(String) },
      { position: 1, until: null, lastUsedAt: expect.any(String) },
    ],
  })
  const told = await runHere(dataDir, ['endpoints', 'show', 'shop'])
  expect(told.stderr).toMatch(/Old secret 0 was last used .* ago: the service may still sign with it/)

  const retired = await endpoints('rotate', 'shop', '--retire')
  expect(retired.json.data.secrets[0].until).not.toBe(old.until)
  const [four, five] = [eventBody('evt_4'), eventBody('evt_5')]
  expect(await post(four, opensslHmac(secret, four))).toBe(401)
  expect(await post(five, opensslHmac(rotated.secret, five))).toBe(200)
  const again = await runHere(dataDir, ['endpoints', 'rotate', 'shop', '--retire'])
  expect(again.stdout).toContain('has no old secret to retire')
})

test("after the sandbox's endpoint is rotated, the sandbox signs with the new secret", async () => {
  const { endpoints, sandbox, hear, app } = await startShop()
  const rotated = await endpoints('rotate', 'sandbox', '--overlap', '0')
  expect(rotated.exit).toBe(0)
  const { id } = await sandbox.events.emit('order.placed', { order: 1 })
  expect(await hear('delivery.received', ({ event }) => event === id)).toMatchObject({ verdict: 'accepted' })
  const [endpoint] = await app.store.listEndpoints()
  expect(sandbox.webhooks.list()[0]?.secrets).toEqual(endpoint?.secrets.slice(-1).map(({ value }) => value))
})
