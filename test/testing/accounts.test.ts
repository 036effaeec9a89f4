import { expect, test } from 'vitest'
import { callable, cron, defineWorkflow, z } from '../../src/author/index.ts'
import { testbed } from '../../src/testing/index.ts'
import { define } from '../support/workflows.ts'

const seen = defineWorkflow({
  id: 'seen',
  on: callable(z.string()),
  run: ({ account, input }) => `${input}: ${account}`,
})

const nightly = defineWorkflow({
  id: 'nightly',
  on: cron('0 3 * * *', { accounts: 'each' }),
  run: ({ account, step }) => step.invoke('child', seen, account),
})

test('a schedule for each account makes a run for all that exist, and what it invokes acts for the same', async () => {
  await using t = await testbed({ workflows: [nightly, seen], accounts: ['acme', 'best'] })
  await t.advance('1d')
  expect(t.runs(nightly).map(({ account, output }) => [account, output])).toEqual([
    ['default', 'default: default'],
    ['acme', 'acme: acme'],
    ['best', 'best: best'],
  ])
  expect(
    t
      .runs(seen)
      .map(({ account }) => account)
      .sort(),
  ).toEqual(['acme', 'best', 'default'])
})

test('a schedule for one account acts for it alone, and a list of them for each', async () => {
  const one = defineWorkflow({ id: 'one', on: cron('0 3 * * *', { account: 'acme' }), run: ({ account }) => account })
  const two = defineWorkflow({
    id: 'two',
    on: cron('0 3 * * *', { account: ['acme', 'default'] }),
    run: ({ account }) => account,
  })
  await using t = await testbed({ workflows: [one, two] })
  await t.advance('1d')
  expect([...t.runs(one), ...t.runs(two)].map(({ output }) => output)).toEqual(['acme', 'acme', 'default'])
})

test('an event names its account, also an invoked one, and its data cannot change that', async () => {
  const told = define('told', { on: 'file.created' }, ({ account, event }) => [account, event.account])
  const asks = define('asks', { on: 'file.moved' }, ({ step }) =>
    step.invoke('child', told, { data: {}, account: 'other' } as never),
  )
  await using t = await testbed({ workflows: [told, asks] })
  await t.send('file.created', {}, { account: 'acme' })
  expect(t.run(told).output).toEqual(['acme', 'acme'])
  await t.send('file.moved', {}, { account: 'best' })
  expect(t.run(told).output).toEqual(['best', 'best'])
})

test('a limit is keyed by the account of a run', async () => {
  const slow = defineWorkflow({
    id: 'slow',
    on: cron('0 3 * * *', { accounts: 'each' }),
    singleton: { key: (_tick, { account }) => account },
    run: ({ step }) => step.sleep('nap', '30d'),
  })
  await using t = await testbed({ workflows: [slow], accounts: ['acme'] })
  await t.tick(slow, '2026-01-01T03:00Z')
  await t.tick(slow, '2026-01-02T03:00Z')
  expect(t.runs(slow).map(({ account, status }) => [account, status])).toEqual([
    ['default', 'waiting'],
    ['acme', 'waiting'],
    ['default', 'skipped'],
    ['acme', 'skipped'],
  ])
})

test('the guard counts the deletes of a scheduled run for its account', async () => {
  const tidy = defineWorkflow({
    id: 'tidy',
    on: cron('0 3 * * *', { account: ['acme', 'best'] }),
    async run({ account, files }) {
      const { items } = await files.snapshot({ service: 'storage_a', path: `/${account}` })
      return (await files.deleteAll(items)).deleted.length
    },
  })
  await using t = await testbed({ workflows: [tidy], guard: { account: { deletes: { perHour: 2 } }, workflow: {} } })
  for (const account of ['acme', 'best']) {
    for (const name of ['a', 'b']) await t.storage('storage_a').put(`/${account}/${name}.txt`, name)
  }
  await t.tick(tidy, '2026-01-01T03:00Z')
  expect(t.runs(tidy).map(({ output }) => output)).toEqual([2, 2])
  await t.storage('storage_a').put('/acme/c.txt', 'c')
  await t.tick(tidy, '2026-01-01T03:01Z', { account: 'acme' })
  expect(await t.approvals()).toMatchObject([
    { why: 'over the limit of 2 deletes of account acme an hour (guard.account.deletes.perHour)' },
  ])
})

test('a cron line with a wrong account does not load', () => {
  expect(() => cron('0 3 * * *', { account: 'Not a name' })).toThrow('"Not a name" in `account` is not the name of one')
  expect(() => cron('0 3 * * *', { account: [] })).toThrow('is not the name of one')
  expect(() => cron('0 3 * * *', { account: 'a', accounts: 'each' })).toThrow('not both')
})
