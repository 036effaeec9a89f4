import { expect, test } from 'vitest'
import { postDelivery } from '../../support/post-delivery.ts'
import { WEBHOOK_SECRET } from '../../support/test-config.ts'
import { Cluster } from './cluster.ts'

test('several receivers, workers and schedulers share one database, and do everything once', async () => {
  const cluster = new Cluster()
  expect(await cluster.command('db', 'migrate')).toContain('Migrated the schema from 0 to')
  expect(await cluster.command('db', 'migrate')).toContain('up to date')
  const workers = await Promise.all([cluster.start('worker'), cluster.start('worker')])
  const receivers = await Promise.all([cluster.start('receiver'), cluster.start('receiver')])
  await Promise.all([cluster.start('scheduler'), cluster.start('scheduler'), cluster.start('admin')])

  const events = Array.from({ length: 40 }, (_, n) => `evt_${n}`)
  const answers = await Promise.all(
    // Each event comes to both receivers.
    events.flatMap((id) => receivers.map(({ endpoint }) => postDelivery(endpoint, WEBHOOK_SECRET, id))),
  )
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  const store = await cluster.open()
  const isDone = async () =>
    (await store.listRuns({ workflow: 'follow-up', status: 'completed', limit: 99 })).length === 40
  while (!(await isDone()));
  const expected = events.flatMap((id) => ['first', 'second', 'third'].map((step) => `${id} ${step}`))
  expect(cluster.effects().toSorted()).toEqual(expected.toSorted())

  const ticks = await store.listRuns({ workflow: 'every-second', limit: 1_000 })
  expect(new Set(ticks.map(({ tickAt }) => tickAt)).size).toBe(ticks.length)
  expect(await cluster.command('runs', 'list', '--limit', '3')).toContain('completed')
  expect(await cluster.command('doctor').catch(({ stdout }) => stdout)).toContain('PostgreSQL answers')
  for (const { child, exited } of [...workers, ...receivers]) {
    child.kill('SIGTERM')
    expect(await exited).toEqual({ code: 0, signal: null })
  }
  expect((await store.countOpenRuns(Date.now())).running).toBe(0)
})
