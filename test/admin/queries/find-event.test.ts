import { expect, test } from 'vitest'
import { findEvent } from '../../../src/admin/queries/find-event.ts'
import { openTestProject } from '../../cli/support/test-project.ts'
import { eventBody, incoming } from '../../support/fixtures.ts'

async function openShop() {
  const project = await openTestProject()
  const save = async (id: string, account = 'default') =>
    project.store.saveDelivery(incoming(id, { body: eventBody(id), workflows: ['follow-up'], account }))
  return { ...project, save }
}

test('an event is found by the beginning of its id where it is unique, whatever form the id has', async () => {
  const { cli, save } = await openShop()
  const own = 'evt_1kt1gw6g3001d4qz5qx72wb'
  const uuid = '5f0c8a0e-6a40-4d3f-9a0a-000000000001'
  for (const id of [own, uuid, 'order 17/請求書/created']) await save(id)
  const show = async (id: string) => (await cli('events', 'show', id)).json
  expect(await show('evt_1kt1gw6g3001d')).toMatchObject({ ok: true, data: { id: own, runs: [{}] } })
  expect(await show('5f0c8a0e-6a40…')).toMatchObject({ ok: true, data: { id: uuid } })
  expect(await show('order 17/請')).toMatchObject({ ok: true, data: { id: 'order 17/請求書/created' } })
  expect(await show('5f0c8a0')).toMatchObject({ ok: false, error: { code: 'not_found' } })
  const replay = await cli('events', 'replay', '5f0c8a0e…', '--workflow', 'follow-up')
  expect(replay.json.data).toMatchObject({ runs: [{ event: uuid, workflow: 'follow-up' }] })
})

test('a replay takes no beginning of an id that may be the whole id of another event', async () => {
  const { cli, save, store } = await openShop()
  await save('evt_order10')
  const before = (await store.listRuns({ limit: 9 })).length
  for (const more of [[], ['--dry-run']]) {
    expect((await cli('events', 'replay', 'evt_order1', ...more)).json).toMatchObject({
      error: { code: 'invalid_request', fix: 'Give the whole id, if you mean it: evt_order10' },
    })
  }
  expect(await store.listRuns({ limit: 9 })).toHaveLength(before)
})

test('the beginning of several event ids is refused with all of them', async () => {
  const { cli, save } = await openShop()
  for (const id of ['delivery-2026-1', 'delivery-2026-2']) await save(id)
  const { error } = (await cli('events', 'show', 'delivery-2026')).json
  expect(error).toMatchObject({ code: 'invalid_request', fix: 'Give more of it: delivery-2026-2, delivery-2026-1.' })
})

test('the beginning of an id that several accounts share needs the account', async () => {
  const { cli, save } = await openShop()
  await save('delivery-2026-1', 'default')
  await save('delivery-2026-1', 'second')
  expect((await cli('events', 'show', 'delivery-2026')).json).toMatchObject({
    error: { fix: 'Name the account, too: `account`, or --account.' },
  })
  const chosen = await cli('events', 'show', 'delivery-2026', '--account', 'second')
  expect(chosen.json).toMatchObject({ data: { account: 'second' } })
})

test('a search for an id that stops before the oldest event says how far it looked, and takes no guess', async () => {
  const { store, save } = await openShop()
  for (let n = 0; n < 3; n++) await save(`delivery-${n}-of-2026`)
  // A slice of one event, and a clock that spends the budget with it.
  const slow = {
    findEvents: (id: string) => store.findEvents(id),
    searchEvents: (...[search, slice]: Parameters<typeof store.searchEvents>) =>
      store.searchEvents(search, { ...slice, rows: 1 }),
  }
  let now = 0
  const seek = (id: string) => findEvent(slow, { id, account: undefined }, () => (now += 3_000))
  await expect(seek('delivery-2')).rejects.toMatchObject({
    message: expect.stringMatching(
      /^Only one event begins with delivery-2 among the newest 1 events, back to 20.*further/,
    ),
    details: { fix: 'Give the whole id, if you mean it: delivery-2-of-2026' },
  })
  await expect(seek('delivery-0')).rejects.toMatchObject({ details: { fix: 'Give its whole id.' } })
})
