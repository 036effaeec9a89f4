import { expect, test } from 'vitest'
import { verifyPostgres } from '../../../src/store/postgres/upkeep/verify-postgres.ts'
import { claimNext } from '../../contract/support/claim-next.ts'
import { checkpoint, NOW, queueRun } from '../../support/fixtures.ts'
import { makeSchema, openSession, openTestPostgres } from '../../support/postgres-store.ts'

/** Damage, and the check that finds it. */
const DAMAGES: [string, string][] = [
  ['DELETE FROM event_identity', 'every event is known by its identity'],
  ['DELETE FROM event', 'every identity has its event'],
  ['UPDATE event SET stream = (stream + 1) % 8', 'every event is in its stream'],
  ['UPDATE stream SET seq = 0', 'every stream counts past its events'],
  ['DELETE FROM event', 'every body has its event'],
  ['DELETE FROM event', 'every run has its event'],
  ['DELETE FROM work', 'every run is in the queue or has an end, and not both'],
  ['DELETE FROM run', 'every row of the queue has its run'],
  ['DELETE FROM run', 'every end has its run'],
  [`UPDATE work SET status = 'running', worker = NULL`, 'every run at work has a worker'],
  ['DELETE FROM run', 'every step has its run'],
  [
    `INSERT INTO step_failure (run_id, key, attempt, failed_at, error) VALUES ('run_none', 'a', 1, 0, '{}')`,
    'every failed attempt has its run',
  ],
  [`INSERT INTO run_log (run_id, number) VALUES ('run_none', 1)`, 'every log line has its run'],
  ['UPDATE step SET apart_bytes = 9', 'every large result is there'],
  [
    `INSERT INTO gate_slot VALUES ('w', 'g', 'k', 1, 0, 'run_gone', 0, NULL)`,
    'every slot belongs to an unfinished run',
  ],
  [`INSERT INTO wait (run_id, key) VALUES ('run_gone', 'k')`, 'every wait belongs to an unfinished run'],
]

test('a sound database passes each check, and each check finds its damage', async () => {
  const place = makeSchema()
  const store = await openTestPostgres(place)
  await queueRun(store, 'evt_1')
  const { lease } = await claimNext(store)
  await store.saveCheckpoint(lease, checkpoint('a'))
  await store.completeRun(lease, 'null', NOW)
  await queueRun(store, 'evt_2')
  const client = await openSession(place)

  const sound = await verifyPostgres(client, 'here')
  expect(sound.checks.filter(({ passed }) => !passed)).toEqual([])
  expect(sound.rows).toMatchObject({ event: 2, run: 2, work: 1, outcome: 1, step: 1 })

  // Weeks are damaged in weeks.test.ts.
  const others = sound.checks.filter(({ name }) => !name.includes('weeks'))
  expect(DAMAGES.map(([, name]) => name)).toEqual(others.map(({ name }) => name))
  for (const [damage, name] of DAMAGES) {
    // The report begins a transaction of its own, so the damage is in a table of this session.
    const [, table] = /(?:FROM|UPDATE|INTO) (\w+)/.exec(damage) ?? []
    await client.query(`CREATE TEMP TABLE ${table} AS TABLE ${place.schema}.${table}`)
    await client.query(`SET search_path = pg_temp, ${place.schema}; ${damage}`)
    const { checks } = await verifyPostgres(client, 'here')
    expect(checks.find((check) => check.name === name)).toMatchObject({ passed: false })
    await client.query(`DISCARD TEMP; SET search_path = ${place.schema}`)
  }
})
