import { expect, test } from 'vitest'
import { z } from 'zod'
import { callable, defineWorkflow } from '../../src/author/index.ts'
import { testbed } from '../../src/testing/index.ts'
import { RunBook } from '../../src/testing/run-book.ts'
import { queueRun } from '../support/fixtures.ts'
import { openTestStore } from '../support/test-store.ts'

test('a run of a test has the tags and the progress of its run', async () => {
  const workflow = defineWorkflow({
    id: 'tagged',
    on: callable(z.object({ customer: z.string() })),
    tags: ({ customer }) => ({ customer }),
    run: ({ tag, progress }) => {
      tag('size', 3)
      progress(2, 4, 'files')
    },
  })
  await using t = await testbed({ workflows: [workflow] })
  await t.start(workflow, { customer: 'acme' })
  expect(t.run(workflow)).toMatchObject({
    tags: { customer: 'acme', size: '3' },
    progress: { done: 2, total: 4, failed: 0, note: 'files' },
  })
})

test('a run book reads only the runs that may have changed, however many there are', async () => {
  const store = openTestStore()
  const ids: string[] = []
  for (let n = 0; n < 20; n++) ids.push(await queueRun(store, `evt_${n}`))
  const read: string[] = []
  const watched = new Proxy(store, {
    get: (target, name) => {
      read.push(String(name))
      return Reflect.get(target, name)
    },
  })
  const book = new RunBook()
  await book.refresh(watched, { ids: new Set(), areAll: true })
  expect(book.list().map(({ id }) => id)).toEqual(ids)
  read.length = 0
  await book.refresh(watched, { ids: new Set(ids.slice(0, 1)), areAll: false })
  expect(read).toEqual(['findRun', 'listSteps'])
})
