import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { CHILD_ENVIRONMENT } from '../../support/child-environment.ts'
import { postDelivery } from '../../support/post-delivery.ts'
import { CLI } from '../../support/program.ts'
import { WEBHOOK_SECRET } from '../../support/test-config.ts'
import { Cluster } from './cluster.ts'

const EVENTS = 60
/** Kills of the command, at moments that follow one another. */
const KILLS = 4
/** Longer than the command takes from its start to the end of the copy. */
const SPAN_MS = 1_800
const STEPS = ['first', 'second', 'third']
const ON_FILE = { UPSHOT_DATABASE_URL: '', UPSHOT_DATA_DIR: 'data' }

const events = Array.from({ length: EVENTS }, (_, n) => `evt_${n}`)

/** Begins the command and kills it after a while. */
async function killMove({ root, environment }: Cluster, ms: number): Promise<void> {
  const env = { ...CHILD_ENVIRONMENT, ...environment }
  const child = spawn(process.execPath, [CLI, 'db', 'move', '--yes'], { cwd: root, env, stdio: 'ignore' })
  const ended = once(child, 'exit')
  await wait(ms)
  child.kill('SIGKILL')
  await ended
}

test('upshot db move, killed at any moment and begun again, loses no run and doubles nothing', async () => {
  const cluster = new Cluster()
  const app = await cluster.start('all', ON_FILE)
  const statuses = await Promise.all(events.map((id) => postDelivery(app.endpoint, WEBHOOK_SECRET, id)))
  expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([200]))
  // While an app works on the file, nothing is moved.
  await expect(cluster.command('db', 'move', '--yes')).rejects.toThrow(/An app is running on .* \(process \d+\)/)
  app.child.kill('SIGTERM')
  await app.exited
  for (let kill = 0; kill < KILLS; kill++) {
    await killMove(cluster, ((kill + Math.random()) / KILLS) * SPAN_MS)
  }
  await cluster.command('db', 'move', '--yes')
  // The file takes no event any more.
  await expect(cluster.start('all', ON_FILE)).rejects.toThrow(/moved to PostgreSQL/)
  const after = await cluster.start('all')
  const again = await Promise.all(events.map((id) => postDelivery(after.endpoint, WEBHOOK_SECRET, id)))
  expect(new Set(again.map(({ status }) => status))).toEqual(new Set([200]))
  expect(await cluster.command('db', 'migrate')).toContain('up to date')
  expect(await cluster.command('doctor').catch(({ stdout }) => stdout)).toContain('PostgreSQL answers')
  const store = await cluster.open()
  await cluster.completed(store, EVENTS)
  const runs = await store.listRuns({ workflow: 'follow-up', limit: 1_000 })
  expect(runs.map(({ eventId }) => eventId).toSorted()).toEqual(events.toSorted())
  const effects = events.flatMap((id) => STEPS.map((step) => `${id} ${step}`))
  expect(cluster.effects().toSorted()).toEqual(effects.toSorted())
})
