import { expect, test } from 'vitest'
import { saveLine } from '../../support/lines.ts'
import { openTestProject } from '../support/test-project.ts'

test('a schedule of several accounts run by hand starts one run for each, and answers all of them', async () => {
  const { store, cli } = await openTestProject()
  await saveLine(store, 'nightly', Date.now(), { account: ['acme', 'default'] })
  const made = (await cli('schedules', 'run', 'nightly')).json.data
  expect(made).toMatchObject([{ account: 'acme' }, { account: 'default' }])
  for (const { id } of made) expect(await store.findRun(id)).toMatchObject({ origin: 'manual' })
})
