import { expect, test } from 'vitest'
import { openTestProject } from '../../support/test-project.ts'

test('commands take the id of an endpoint where they take its name, as a log line has both', async () => {
  const { store, cli } = await openTestProject()
  const [endpoint] = await store.listEndpoints()
  if (!endpoint) throw new Error('the project has an endpoint')
  expect((await cli('endpoints', 'show', endpoint.id)).json).toMatchObject({ ok: true, data: { name: 'main' } })
  expect(await cli('deliveries', 'list', '--endpoint', endpoint.id)).toMatchObject({ exit: 0, json: { data: [] } })
  expect((await cli('endpoints', 'disable', endpoint.id)).json).toMatchObject({ ok: true })
  expect((await store.listEndpoints())[0]?.status).toBe('disabled')
})
