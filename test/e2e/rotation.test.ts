import { sign } from '@octokit/webhooks-methods'
import { expect, test, vi } from 'vitest'
import { runCli } from '../cli/support/run-cli.ts'
import { eventBody } from '../support/fixtures.ts'
import { startTestApp } from '../support/test-app.ts'

// The commands run as processes of their own beside a busy app.
vi.setConfig({ testTimeout: 120_000 })

const SENDERS = 16

test('a rotation under load refuses no valid delivery, and a retired secret fails at once', async () => {
  const { app, dataDir } = await startTestApp()
  const endpoints = async (...args: string[]) => (await runCli(dataDir, ['endpoints', ...args, '--json'])).json.data
  const added = await endpoints('add', 'shop', '--scheme', 'sha256-prefix', '--header', 'X-Hub-Signature-256')
  const { id, url } = added.endpoint
  const first = added.secret
  let sent = 0
  const post = async (secret: string) => {
    const body = eventBody(`evt_${sent++}`)
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': await sign(secret, body) }
    return (await fetch(url, { method: 'POST', headers, body })).status
  }

  /** Sends with all secrets in turn until `work` is over; returns its value and the statuses. */
  const during = async <T>(secrets: readonly string[], work: () => Promise<T>) => {
    let isOver = false
    const statuses: number[] = []
    const senders = Array.from({ length: SENDERS }, async (_, index) => {
      do statuses.push(await post(secrets[index % secrets.length] ?? ''))
      while (!isOver)
    })
    const value = await work()
    isOver = true
    await Promise.all(senders)
    return { value, statuses }
  }

  const rotation = await during([first], () => endpoints('rotate', 'shop', '--overlap', '24h'))
  const second: string = rotation.value.secret
  const overlap = await during([first, second], () => endpoints('rotate', 'shop', '--overlap', '1h'))
  const third: string = overlap.value.secret
  const settled = await during([first, second, third], () => endpoints('list'))
  const statuses = [rotation, overlap, settled].flatMap((phase) => phase.statuses)
  expect(statuses.length).toBeGreaterThanOrEqual(3 * SENDERS)
  expect(statuses.filter((status) => status !== 200)).toEqual([])

  const retirement = await during([third], () => endpoints('rotate', 'shop', '--retire'))
  expect(retirement.statuses.filter((status) => status !== 200)).toEqual([])
  expect(await Promise.all([post(first), post(second), post(third)])).toEqual([401, 401, 200])

  expect(await app.store.countDeliveries(id, 0)).toMatchObject({ accepted: sent - 2 })
})
