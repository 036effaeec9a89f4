import { expect, test } from 'vitest'
import { postDelivery } from '../../support/post-delivery.ts'
import { WEBHOOK_SECRET } from '../../support/test-config.ts'
import { Cluster } from './cluster.ts'

test('processes that only plan share one database, and none that would act joins them', async () => {
  const cluster = new Cluster(undefined, { UPSHOT_EFFECTS: 'plan' })
  await cluster.command('db', 'migrate')
  const [worker, { endpoint }] = await Promise.all([cluster.start('worker'), cluster.start('receiver')])
  await cluster.start('scheduler')
  expect(worker.lines.find(({ message }) => /^NOTHING ACTS HERE/.test(String(message)))).toMatchObject({
    level: 'warn',
  })
  const events = ['evt_1', 'evt_2', 'evt_3']
  await Promise.all(events.map((id) => postDelivery(endpoint, WEBHOOK_SECRET, id)))

  const store = await cluster.open()
  const list = (workflow: string) => store.listRuns({ workflow, status: 'planned', limit: 1_000 })
  while ((await list('follow-up')).length < 3 || (await list('every-second')).length === 0);
  for (const { eventId, reason, output } of await list('follow-up')) {
    expect(events).toContain(eventId)
    // Nobody knows the result of its first step, which is not called.
    expect(reason).toMatch(/open at step "first"/)
    expect(JSON.parse(output ?? '')).toMatchObject({
      end: { kind: 'open', step: 'first' },
      effects: [{ class: 'write' }],
    })
  }
  const [tick] = await list('every-second')
  expect(tick).toMatchObject({ reason: expect.stringMatching(/^would complete/), tickAt: expect.any(Number) })
  expect(cluster.effects()).toEqual([])

  const live = cluster.start('worker', { UPSHOT_EFFECTS: 'live' })
  await expect(live).rejects.toThrow(/UPSHOT_EFFECTS is live here, but process \d+ \(role worker\)/)
  expect(await cluster.command('runs', 'list', '--status', 'planned', '--limit', '3')).toContain('nothing was done')
})
