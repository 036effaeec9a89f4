import { expect } from 'vitest'
import type { RunContext } from '../../../../src/author/index.ts'
import { DEFAULT_POLICY } from '../../../../src/core/safety/guard.ts'
import type { FileEntry } from '../../../../src/core/service/file.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { createTestEngine, test } from '../../../support/test-engine.ts'
import { define } from '../../../support/workflows.ts'
import { filesOf } from '../../support/files-in-runs.ts'

const service = 'storage_a' as const
const entry = (id: string) => ({ service, id, type: 'file', path: `/${id}`, size: 1, modifiedAt: null }) as never

interface HookedOptions {
  beforeSend: () => Promise<void>
  onSeen: (entry: FileEntry) => void
}
type Act = (context: RunContext, sent: (what: string) => void) => Promise<unknown>

const deleteOne: Act = ({ files }) => files.delete({ service, id: 'a' })
const deleteList: Act = ({ files }) => files.deleteAll([entry('a'), entry('b')])
const pay: Act = ({ step }, sent) => step.run('pay', () => sent('pay'), { once: true })

test.each([
  ['a delete', deleteOne, ['delete a']],
  ['a list of deletes', deleteList, ['delete a', 'delete b']],
  ['a step with once', pay, ['pay']],
])('%s begins only once the store has answered, however often it fails before', async (_, act, sent) => {
  const engine = createTestEngine()
  const log: string[] = []
  let refusals = 2
  const beginEffects: Store['beginEffects'] = async (...given) => {
    if (refusals-- > 0) {
      log.push('no answer')
      throw new Error('the disk is full')
    }
    const permits = await engine.store.beginEffects(...given)
    log.push('granted')
    return permits
  }
  const careless = define('careless', { on: 'file.created' }, (context) => act(context, (what) => log.push(what)))
  const client = filesOf({
    delete: async ({ id }: { id: string }) => {
      log.push(`delete ${id}`)
      return { outcome: 'deleted', proof: 'reply' }
    },
  })
  await engine.start([careless], { store: { ...engine.store, beginEffects }, filesFor: client })
  let run = await engine.run('careless')
  for (let pass = 0; pass < 3 && run.status !== 'completed'; pass++) run = await engine.advance(run.id, '10m')
  expect(run.status).toBe('completed')
  expect(log).toEqual(['no answer', 'no answer', 'granted', ...sent])
})

test('a stop that comes while the store notes how the delete found its file holds the request', async ({ engine }) => {
  const sent: string[] = []
  const all = { kind: 'all', name: '', actor: 'ada', reason: 'wrong file' } as const
  const client = filesOf({
    delete: async ({ id }: { id: string }, { beforeSend, onSeen }: HookedOptions) => {
      onSeen(entry(id))
      await beforeSend()
      sent.push(id)
      return { outcome: 'deleted', proof: 'reply' }
    },
  })
  const noteSeen: Store['noteSeen'] = async (...given) => {
    await engine.store.stopEffects({ ...all, since: engine.clock.now() })
    return engine.store.noteSeen(...given)
  }
  const careless = define('careless', { on: 'file.created' }, (context) => deleteOne(context, () => {}))
  await engine.start([careless], { store: { ...engine.store, noteSeen }, filesFor: client })
  const run = await engine.run('careless')
  expect(run).toMatchObject({
    status: 'waiting',
    reason: expect.stringContaining('all effects are stopped: wrong file'),
  })
  expect(sent).toEqual([])
})

test('a run that ends between the look of a delete and its request sends none, also by a whole condition', async ({
  engine,
}) => {
  const sent: string[] = []
  const found = { ...(entry('a') as FileEntry), modifiedAt: '2026-06-01T00:00:00Z' }
  const remove = define('remove', { on: 'file.created' }, ({ files }) => files.delete(found, { expect: found }))
  const client = filesOf({
    delete: async ({ id }: { id: string }, { beforeSend, onSeen }: HookedOptions) => {
      onSeen(found)
      // Another process cancels it, while this one may be frozen.
      const [run] = await engine.store.listRuns({ limit: 1 })
      await engine.store.cancelRun(run?.id ?? '', 'the wrong folder', engine.clock.now())
      await beforeSend()
      sent.push(id)
      return { outcome: 'deleted', proof: 'reply' }
    },
  })
  await engine.start([remove], { filesFor: client })
  expect(await engine.run('remove')).toMatchObject({ status: 'canceled' })
  expect(sent).toEqual([])
})

test('the ledger says how a delete found its file, also where its condition names all of it', async ({ engine }) => {
  const found = { ...(entry('a') as FileEntry), modifiedAt: '2026-06-01T00:00:00Z' }
  const remove = define('remove', { on: 'file.created' }, ({ files }) => files.delete(found, { expect: found }))
  const client = filesOf({
    delete: async (_file: { id: string }, { beforeSend, onSeen }: HookedOptions) => {
      onSeen(found)
      await beforeSend()
      return { outcome: 'deleted', proof: 'reply' }
    },
  })
  await engine.start([remove], { filesFor: client })
  expect(await engine.run('remove')).toMatchObject({ status: 'completed' })
  const [ended] = await engine.store.listEffects({ phases: ['ended'], limit: 1 })
  expect(JSON.parse(ended?.before ?? 'null')).toMatchObject({ path: '/a', bytes: 1, modifiedAt: found.modifiedAt })
})

test('a share counts where the code names the storage as the service does, as events do', async ({ engine }) => {
  const ids = Array.from({ length: 20 }, (_, index) => `f${index}`)
  const deleted: string[] = []
  const cleaning = define('cleaning', { on: 'file.created' }, async ({ files }) => {
    await files.list({ service })
    for (const id of ids.slice(0, 3)) await files.delete({ service: 'Desk Drive' as never, id })
  })
  const client = filesOf({
    list: async () => ({ items: ids.map(entry), nextPage: null, totalItems: 20 }),
    find: async ({ id }: { id: string }) => entry(id),
    delete: async ({ id }: { id: string }) => {
      deleted.push(id)
      return { outcome: 'deleted', proof: 'reply' }
    },
  })
  await engine.start([cleaning], { filesFor: client, spellingsOf: () => ({ storage_a: 'desk-drive' }) })
  expect(await engine.run('cleaning')).toMatchObject({
    status: 'waiting',
    reason: expect.stringContaining('deletes.share'),
  })
  expect(deleted).toEqual(['f0', 'f1'])
})

test('a delete is of the file that it was called with, whatever the code does with the object', async ({ engine }) => {
  const deleted: string[] = []
  const hasty = define('hasty', { on: 'file.created' }, async ({ files }) => {
    const file = { service, id: 'a' }
    const deleting = files.delete(file)
    file.id = 'b'
    await deleting
  })
  const client = filesOf({
    delete: async ({ id }: { id: string }) => {
      deleted.push(id)
      return { outcome: 'deleted', proof: 'reply' }
    },
  })
  await engine.start([hasty], { filesFor: client })
  expect(await engine.run('hasty')).toMatchObject({ status: 'completed' })
  expect(deleted).toEqual(['a'])
})

test('a delete whose size is limited does not begin while nobody can tell the size', async ({ engine }) => {
  const log: string[] = []
  let refusals = 2
  const careful = define('careful', { on: 'file.created', guard: { bytes: { perDay: '1 GB' } } }, ({ files }) =>
    files.delete({ service, id: 'a' }),
  )
  const client = filesOf({
    find: async () => {
      log.push('look')
      if (refusals-- > 0) throw new Error('503')
      return entry('a')
    },
    delete: async () => {
      log.push('delete')
      return { outcome: 'deleted', proof: 'reply' }
    },
  })
  await engine.start([careful], { filesFor: client })
  let run = await engine.run('careful')
  for (let pass = 0; pass < 3 && run.status !== 'completed'; pass++) run = await engine.advance(run.id, '10m')
  expect(run.status).toBe('completed')
  expect(log).toEqual(['look', 'look', 'look', 'delete'])
})

test('a list is held whole also where the look at one of its files fails', async ({ engine }) => {
  const deleted: string[] = []
  const limited = define('limited', { on: 'file.created', guard: { deletes: { perRun: 2 } } }, ({ files }) =>
    files.deleteAll(['a', 'b', 'c'].map((id) => ({ service, id, type: 'file' }) as never)),
  )
  const client = filesOf({
    find: async ({ id }: { id: string }) => {
      if (id === 'b') throw new Error('503')
      return entry(id)
    },
    delete: async ({ id }: { id: string }) => {
      deleted.push(id)
      return { outcome: 'deleted', proof: 'reply' }
    },
  })
  await engine.start([limited], { filesFor: client })
  expect(await engine.run('limited')).toMatchObject({ status: 'waiting' })
  expect(deleted).toEqual([])
  const [approval] = await engine.store.listApprovals({ limit: 1, now: engine.clock.now() })
  expect(approval).toMatchObject({ items: 3, openItems: 3 })
})

test('no file of a list is looked at where no limit can hold it', async ({ engine }) => {
  const log: string[] = []
  const unlimited = define('unlimited', { on: 'file.created' }, ({ files }) =>
    files.deleteAll(['a', 'b'].map((id) => ({ service, id, type: 'file' }) as never)),
  )
  const client = filesOf({
    find: async ({ id }: { id: string }) => {
      log.push(`look ${id}`)
      return entry(id)
    },
    delete: async ({ id }: { id: string }) => {
      log.push(`delete ${id}`)
      return { outcome: 'deleted', proof: 'reply' }
    },
  })
  await engine.start([unlimited], { filesFor: client, guard: { ...DEFAULT_POLICY, limits: null } })
  expect(await engine.run('unlimited')).toMatchObject({ status: 'completed' })
  expect(log).toEqual(['delete a', 'delete b'])
})
