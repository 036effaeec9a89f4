import { Webhook } from 'standardwebhooks'
import { expect, onTestFinished, vi } from 'vitest'
import { NOW } from '../../support/fixtures.ts'
import { test } from '../../support/test-store.ts'
import { startHook } from './support/hook-server.ts'
import { failRun, openWatch, RULE } from './support/open-alerts.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

test('a failure reaches a webhook as a signed event with its count, page and command', async ({ store }) => {
  const hook = await startHook()
  // The library that verifies reads the clock of the machine.
  vi.useFakeTimers({ now: NOW + 10_000, toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const alerts = openWatch(store, RULE, { channels: { ops: { kind: 'webhook', url: hook.url, secret: SECRET } } })
  await alerts.watch.look()
  await failRun(store, NOW + 1_000, { message: 'the door of /private/name.pdf is closed' })
  await failRun(store, NOW + 2_000, { message: 'the door of /private/other.pdf is closed' })
  alerts.clock.set(NOW + 10_000)
  await alerts.watch.look()

  const [first] = hook.posted
  const event = new Webhook(SECRET).verify(first?.body ?? '', first?.headers as Record<string, string>)
  expect(event).toMatchObject({
    id: first?.headers['webhook-id'],
    type: 'upshot.alert',
    data: {
      rule: 'failures',
      summary: 'new: follow-up fails at “copy” with Error (2)',
      items: [{ change: 'new', count: 2, command: expect.stringMatching(/^upshot runs list --group grp_/) }],
    },
  })
  expect(first?.body).toMatch(/https:\/\/ops\.example\.com\/runs\?group=grp_/)
  expect(first?.body).not.toMatch(/private|door/)
  expect(alerts.sent()).toMatchObject([{ rule: 'failures', channel: 'ops', error: null }])
})

test('a watch that is started looks each 10 s, by itself', async ({ store }) => {
  const hook = await startHook()
  const { watch, clock } = openWatch(store, RULE, { channels: { ops: { kind: 'slack', url: hook.url } } })
  watch.start()
  onTestFinished(() => watch.stop())
  const looked = () => expect.poll(() => store.loadAlertBook(RULE.name)).not.toBeNull()
  await looked()
  await failRun(store, NOW + 1_000)
  clock.advance('9s')
  await new Promise(setImmediate)
  expect(hook.posted).toEqual([])
  clock.advance('1s')
  await expect.poll(() => hook.posted).toHaveLength(1)
})

test('a channel that refuses is tried three times, told as not sent, and tried again later', async ({ store }) => {
  const hook = await startHook()
  hook.answer = 500
  const alerts = openWatch(store, RULE, { channels: { ops: { kind: 'slack', url: hook.url } } })
  await alerts.watch.look()
  await failRun(store, NOW + 1_000)
  alerts.clock.set(NOW + 10_000)
  const looked = alerts.watch.look()
  for (const pause of [1_000, 5_000]) {
    await expect.poll(() => alerts.clock.nextAt()).toBe(alerts.clock.now() + pause)
    alerts.clock.advance(pause)
  }
  await looked
  expect(hook.posted).toHaveLength(3)
  const [failed] = alerts.sent()
  expect(failed?.error?.message).toMatch(/^127\.0\.0\.1:\d+ answered 500$/)
  hook.answer = 200
  alerts.clock.advance('2m')
  await alerts.watch.look()
  expect(alerts.sent().at(-1)).toMatchObject({ error: null })
})

test('a process that dies while it sends is followed by another one after a minute', async ({ store }) => {
  const [hanging, hook] = [await startHook(), await startHook()]
  hanging.answer = 'never'
  const dying = openWatch(store, RULE, { channels: { ops: { kind: 'slack', url: hanging.url } } })
  const next = openWatch(store, RULE, { channels: { ops: { kind: 'slack', url: hook.url } }, clock: dying.clock })
  await dying.watch.look()
  await failRun(store, NOW + 1_000)
  dying.clock.set(NOW + 10_000)
  void dying.watch.look()
  await expect.poll(() => hanging.posted).toHaveLength(1)
  dying.clock.set(NOW + 69_000)
  await next.watch.look()
  expect(hook.posted).toEqual([])
  dying.clock.set(NOW + 70_000)
  await next.watch.look()
  expect(hook.posted).toHaveLength(1)
  await dying.watch.stop()
})

test('an alert that cannot look is a fault, and other rules go on', async ({ store }) => {
  const hook = await startHook()
  const channels = { ops: { kind: 'slack', url: hook.url } } as const
  const broken = { ...store, listEndedFailures: () => Promise.reject(new Error('no index')) }
  const alerts = openWatch(broken, RULE, { channels })
  await alerts.watch.look()
  await alerts.watch.look()
  expect(alerts.notices).toMatchObject([{ kind: 'fault', where: 'looking for the alert failures' }])
  expect(hook.posted).toEqual([])
})
