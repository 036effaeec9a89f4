import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { readCases } from '../../../src/app/backtest/read-cases.ts'
import { openReadStore } from '../../../src/store/open-store.ts'
import { Pool } from '../../../src/store/postgres/database/pool.ts'
import { checkpoint, queueRun } from '../../support/fixtures.ts'
import { makeSchema, openTestPostgres } from '../../support/postgres-store.ts'

test('a reader has the recorded runs of PostgreSQL, and no way to write', async () => {
  const place = makeSchema()
  const store = await openTestPostgres(place)
  const id = await queueRun(store, 'evt_1', 'tidy')
  const [run] = await store.claimRuns('wrk_1', 1, Date.now())
  if (!run) throw new Error('a run was queued')
  await store.saveCheckpoint(run.lease, checkpoint('note', { target: 'notes' }), undefined, {
    effect: { input: '{"input":{"a":1}}' },
  })
  await store.completeRun(run.lease, '{"b":2}', Date.now())
  const options = { hosts: [{ connectionString: place.url }], schema: place.schema, vaultKey: randomBytes(32) }
  const reader = await openReadStore(options)
  try {
    const pages = await Array.fromAsync(readCases(reader, { workflow: 'tidy', since: 0 }, { withOutputs: true }))
    expect(pages.flatMap(({ cases }) => cases)).toMatchObject([
      {
        run: id,
        event: 'evt_1',
        isCut: false,
        side: {
          end: { kind: 'completed', output: '{"b":2}' },
          deeds: [{ step: 'note', class: 'write', target: 'notes', content: '{"a":1}' }],
        },
      },
    ])
    expect(reader).not.toHaveProperty('claimRuns')
  } finally {
    await reader.close()
  }
})

test('the server refuses the writes of a session for reading', async () => {
  const { url, schema } = makeSchema()
  await openTestPostgres({ url, schema })
  const pool = new Pool({ hosts: [{ connectionString: url }], schema, size: 1, isReadOnly: true })
  try {
    const client = await pool.take()
    await expect(client.query('DELETE FROM run')).rejects.toMatchObject({ code: '25006' })
    pool.release(client, true)
  } finally {
    await pool.close()
  }
})
