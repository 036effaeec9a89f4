import { expect, test } from 'vitest'
import { defineWorkflow, type RunContext } from '../../src/author/index.ts'
import type { FileEntry, Snapshot } from '../../src/files/index.ts'
import { type Testbed, testbed } from '../../src/testing/index.ts'

type Act = (context: RunContext) => Promise<unknown>

const only = { guard: { deletes: { share: '10%', shareFrom: 20 } }, retry: { attempts: 1 } } as const
const emptying = (run: Act) => defineWorkflow({ id: 'emptying', on: 'file.created', ...only, run })

/** Files of a folder that the workflows empty, and many in another. */
async function fill(t: Testbed, folders: Record<string, number>): Promise<void> {
  for (const [folder, count] of Object.entries(folders)) {
    for (let n = 1; n <= count; n++) await t.storage('storage_a').put(`${folder}/f${n}.bak`, 'four')
  }
}

const left = async (t: Testbed, folder: string) =>
  (await t.storage('storage_a').list()).filter(({ path, type }) => type === 'file' && path.startsWith(`${folder}/`))
    .length

const listing = ({ files }: RunContext, path: string) => files.snapshot({ service: 'storage_a', path, recursive: true })

const ways: [string, Act][] = [
  [
    'another big folder is listed, too',
    async (context) => {
      await listing(context, '/big')
      return context.files.deleteAll((await listing(context, '/in')).items)
    },
  ],
  [
    'the listing begins above both',
    async (context) => {
      const all = (await listing(context, '/')).items.filter(({ type }) => type === 'file')
      return context.files.deleteAll(all.filter(({ path }) => path.startsWith('/in/')))
    },
  ],
  [
    'the basis is that of another folder',
    async (context) => {
      const of = await listing(context, '/big')
      return context.files.deleteAll((await listing(context, '/in')).items, { of })
    },
  ],
  [
    'the basis was made up',
    async (context) => {
      const { items } = await listing(context, '/in')
      const of = { complete: true, items: Array.from({ length: 900 }, () => items[0]) } as unknown as Snapshot
      return context.files.deleteAll(items, { of })
    },
  ],
  [
    'each file is deleted by itself, after a wrong guess at another one',
    async (context) => {
      const [other] = (await listing(context, '/big')).items
      const { items } = await listing(context, '/in')
      for (const file of items) {
        await context.files.delete(other as FileEntry, { expect: { path: file.path } })
        await context.files.delete(file)
      }
    },
  ],
  [
    'the storage is spelled in another way',
    async (context) => {
      await listing(context, '/big')
      const { items } = await listing(context, '/in')
      const spelled = items.map(({ id }) => ({ id, service: 'Storage A' }) as unknown as FileEntry)
      await Promise.all(spelled.map((file) => context.files.delete(file)))
    },
  ],
]

test.each(ways)('no more than the share of a folder goes, also where %s', async (_, act) => {
  await using t = await testbed({ workflows: [emptying(act)] })
  await fill(t, { '/in': 30, '/big': 120 })
  await t.send('file.created')
  expect(await left(t, '/in')).toBeGreaterThanOrEqual(27)
  expect(await t.approvals()).toMatchObject([{ why: expect.stringContaining('deletes.share') }])
})

test('small folders below one are bounded by the share of that one', async () => {
  const act: Act = async (context) => {
    const all = (await listing(context, '/in')).items.filter(({ type }) => type === 'file')
    return context.files.deleteAll(all)
  }
  await using t = await testbed({ workflows: [emptying(act)] })
  await fill(t, { '/in/a': 10, '/in/b': 10, '/in/c': 10 })
  await t.send('file.created')
  expect(await left(t, '/in')).toBe(30)
  expect(await t.approvals()).toMatchObject([{ items: { length: 30 } }])
})
