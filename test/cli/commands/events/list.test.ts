import { expect, test } from 'vitest'
import { eventBody, incoming } from '../../../support/fixtures.ts'
import { openTestProject } from '../../support/test-project.ts'

test('events list finds events by path, words, account, family and moment', async () => {
  const { store, cli } = await openTestProject()
  const now = Date.now()
  const save = (id: string, type: string, data: object, part: { account?: string; receivedAt?: number } = {}) =>
    store.saveDelivery(
      incoming(id, { body: eventBody(id, type, data), workflows: [], receivedAt: now, account: 'default', ...part }),
    )
  await save(
    'evt_old',
    'file.created',
    { service: 'storage_a', file: { path: '/in/a.pdf' } },
    { receivedAt: now - 7_200_000 },
  )
  await save('evt_b', 'file.deleted', { service: 'storage_b', file: { path: '/in/b.pdf' } }, { account: 'second' })
  await save('evt_c', 'transfer.completed', { note: 'ledger done' })
  const find = async (...args: string[]) =>
    (await cli('events', 'list', ...args)).json.data.map(({ id }: { id: string }) => id)
  expect(await find('--path', 'storage_a:/in/*')).toEqual(['evt_old'])
  expect(await find('--path', '/in/*')).toEqual(['evt_b', 'evt_old'])
  expect(await find('--text', 'done LEDGER')).toEqual(['evt_c'])
  expect(await find('--account', 'second')).toEqual(['evt_b'])
  expect(await find('--type', 'file.*')).toEqual(['evt_b', 'evt_old'])
  expect(await find('--since', '1h')).toEqual(['evt_c', 'evt_b'])
  expect(await find('--until', '1h')).toEqual(['evt_old'])
  expect(await cli('events', 'list', '--path', 'in')).toMatchObject({ exit: 2, json: { error: { code: 'usage' } } })
})
