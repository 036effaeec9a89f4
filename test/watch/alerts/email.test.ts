import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { expect, onTestFinished } from 'vitest'
import type { Store } from '../../../src/core/store/store.ts'
import { NOW } from '../../support/fixtures.ts'
import { test } from '../../support/test-store.ts'
import { failRun, openWatch, RULE } from './support/open-alerts.ts'

/** A mail server on loopback that keeps what it takes. */
async function startMailServer() {
  const mails: { to: string[]; text: string }[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text: String(Buffer.concat(chunks)) })
        done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)))
  return { mails, port: (server.server.address() as AddressInfo).port }
}

test('an alert by mail has a subject that says it, and a plain text with page and command', async ({ store }) => {
  const { mails, port } = await startMailServer()
  const mail = {
    kind: 'email',
    smtp: `smtp://127.0.0.1:${port}`,
    from: 'upshot@example.com',
    to: ['a@b.example', 'c@b.example'],
  } as const
  const alerts = openWatch(store, RULE, { channels: { ops: mail } })
  await alerts.watch.look()
  await failRun(store, NOW + 1_000)
  alerts.clock.set(NOW + 10_000)
  await alerts.watch.look()
  expect(alerts.sent()).toMatchObject([{ error: null }])
  expect(mails).toMatchObject([{ to: ['a@b.example', 'c@b.example'] }])
  const text = mails[0]?.text.replaceAll('=\r\n', '') ?? ''
  expect(text).toMatch(/^Subject: =\?UTF-8\?Q\?=5BUpshot=5D_failures=3A_new/m)
  expect(text).toMatch(/upshot runs list --group grp_/)
  expect(text).toMatch(/^From: upshot@example.com/m)
})

/** Begins the look that finds a failed run, and tells this mail server. */
async function beginLook(store: Store, smtp: string) {
  const channels = { ops: { kind: 'email', smtp, from: 'upshot@example.com', to: ['a@b.example'] } } as const
  const alerts = openWatch(store, RULE, { channels })
  await alerts.watch.look()
  await failRun(store, NOW + 1_000)
  alerts.clock.set(NOW + 10_000)
  return { alerts, looked: alerts.watch.look() }
}

test('a mail server that does not answer is named without its password', async ({ store }) => {
  // Port 9 discards, and nothing listens there.
  const smtp = 'smtp://ops:s3cret@127.0.0.1:9'
  const { alerts, looked } = await beginLook(store, smtp)
  for (const pause of [1_000, 5_000]) {
    await expect.poll(() => alerts.clock.nextAt()).toBe(alerts.clock.now() + pause)
    alerts.clock.advance(pause)
  }
  await looked
  const [failed] = alerts.sent()
  expect(failed?.error?.message).toMatch(/^127\.0\.0\.1:9 did not take the mail/)
  expect(JSON.stringify(failed)).not.toMatch(/s3cret/)
})

test('a stop does not wait for a mail server that says nothing', async ({ store }) => {
  const server = createServer()
  const asked = once(server, 'connection')
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const smtp = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { alerts, looked } = await beginLook(store, smtp)
  await asked
  const before = performance.now()
  await alerts.watch.stop()
  await looked
  // A mail has ten seconds.
  expect(performance.now() - before).toBeLessThan(5_000)
})
