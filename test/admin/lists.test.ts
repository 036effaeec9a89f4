import { expect, test } from 'vitest'
import { ROUTES } from '../../src/admin/contract/routes.ts'
import { newId } from '../../src/core/ids.ts'
import { asOperator } from '../../src/core/store/as-operator.ts'
import { incoming } from '../support/fixtures.ts'
import { openTestStore } from '../support/test-store.ts'
import { startConsole } from './support/start-console.ts'

const LISTS = [
  '/runs',
  '/failures',
  '/guard/suggestions',
  '/events',
  '/events/export',
  '/deliveries',
  '/effects',
  '/effects/export',
  '/audit',
]

/** Paths that answer without an end. */
const ENDLESS = ['/live']

test('a standby is asked for lists and searches, and for nothing that writes or shows one object', async () => {
  const store = openTestStore()
  let opened = 0
  const openLists = async () => {
    opened += 1
    return store
  }
  const { ask } = await startConsole({ store, openLists })
  const asking: string[] = []
  for (const name of Object.keys(ROUTES)) {
    const [method = '', path = ''] = name.split(' ')
    if (ENDLESS.includes(path)) continue
    const before = opened
    const body = method === 'GET' ? {} : { body: '{}' }
    await (await ask(path.replaceAll(/:\w+/g, 'run_1'), { method, ...body })).text()
    if (opened > before) asking.push(path)
    expect(opened - before, name).toBeLessThanOrEqual(1)
  }
  expect(asking.toSorted()).toEqual(LISTS.toSorted())
})

test('a viewer, who sees no value of a tag, cannot ask for one', async () => {
  const { api, logIn } = await startConsole()
  const ask = async (role: 'viewer' | 'operator', path: string) => {
    const { cookie, key } = await logIn(role)
    return (await fetch(`${api}${path}`, { headers: { cookie, 'x-upshot': key } })).status
  }
  for (const list of ['/runs', '/failures']) {
    for (const query of ['?tag=customer=acme', '?q=tag:customer=acme']) {
      expect([await ask('viewer', list + query), await ask('operator', list + query)]).toEqual([403, 200])
    }
    expect(await ask('viewer', list)).toBe(200)
  }
})

test('a delivery has the type of its event for everybody, and its subject for all but a viewer', async () => {
  const { api, store, logIn } = await startConsole()
  await store.saveDelivery(
    incoming('evt_1', { data: { file: { id: 'fil_1', service: 'storage_a', path: '/in/a.pdf' } } }),
  )
  const seen = async (role: 'viewer' | 'operator') => {
    const { cookie, key } = await logIn(role)
    const reply = await fetch(`${api}/deliveries`, { headers: { cookie, 'x-upshot': key } })
    const { items } = (await reply.json()) as { items: { eventType: string; subject: string | null }[] }
    return items.map(({ eventType, subject }) => [eventType, subject])
  }
  expect(await seen('viewer')).toEqual([['file.created', null]])
  expect(await seen('operator')).toEqual([['file.created', expect.stringContaining('/in/a.pdf')]])
})

test('what others searched for and fetched has its paths and words for all but a viewer', async () => {
  const { api, logIn, store, clock } = await startConsole()
  const operator = { actor: 'cli:ada', role: 'admin', from: 'here', reason: null }
  const shared = { operator, perSecond: null, createdAt: clock.now() }
  const replayed = { path: '/in/a.pdf', words: ['invoice'], until: clock.now() }
  const last = newId('opr', clock.now())
  const writes = asOperator(store, operator, clock)
  await writes.startBulk({ ...shared, id: newId('opr', clock.now()), kind: 'replay', filter: replayed, routes: [] })
  await writes.startBulk({ ...shared, id: last, kind: 'cancel', filter: { tags: [['customer', 'acme']] } })
  const seen = async (role: 'viewer' | 'operator') => {
    const { cookie, key } = await logIn(role)
    const read = async (path: string) => (await fetch(`${api}${path}`, { headers: { cookie, 'x-upshot': key } })).text()
    const texts = [await read('/operations'), await read(`/operations/${last}`), await read('/audit')]
    return texts.map((text) => ['/in/a.pdf', 'invoice', 'acme'].filter((word) => text.includes(word)))
  }
  expect(await seen('operator')).toEqual([['/in/a.pdf', 'invoice', 'acme'], ['acme'], ['/in/a.pdf', 'invoice', 'acme']])
  expect(await seen('viewer')).toEqual([[], [], []])
})
