import { expect, test } from 'vitest'
import { defineWorkflow } from '../../src/author/index.ts'
import { testbed } from '../../src/testing/index.ts'

/** Keeps the only slot until the result is called, and returns the order in which runs began. */
function keepSlot() {
  const busy = Promise.withResolvers<void>()
  const began: string[] = []
  const filler = defineWorkflow({ id: 'filler', on: 'folder.created', run: () => busy.promise })
  return { filler, began, free: busy.resolve }
}

test.each([
  ['by a function', (event: { data: unknown }) => Number((event.data as { rank: number }).rank)],
  ['of the workflow', null],
] as const)('with all slots taken, runs begin by their priority %s, as in the app', async (_, byRank) => {
  const { filler, began, free } = keepSlot()
  const ranked = [1, 5, 3].map((rank) =>
    defineWorkflow({
      id: `rank-${rank}`,
      on: byRank === null ? `rank.${rank}` : `any.${rank}`,
      priority: byRank ?? rank,
      run: ({ run }) => void began.push(run.workflow),
    }),
  )
  await using t = await testbed({ workflows: [filler, ...ranked], slots: 1 })
  const admitted = Promise.withResolvers<void>()
  let ready = 0
  t.notices.subscribe('run.ready', () => void (++ready === 3 && admitted.resolve()))
  const sent = [t.send('folder.created')]
  await t.notices.once('run.started')
  for (const rank of [1, 5, 3]) sent.push(t.send(byRank === null ? `rank.${rank}` : `any.${rank}`, { rank }))
  if (byRank !== null) await admitted.promise
  free()
  await Promise.all(sent)
  expect(began).toEqual(['rank-5', 'rank-3', 'rank-1'])
})

test('with all slots taken, a second run of a singleton is skipped at once, as in the app', async () => {
  const { filler, began, free } = keepSlot()
  const single = defineWorkflow({
    id: 'single',
    on: 'file.created',
    singleton: true,
    run: ({ run }) => void began.push(run.id),
  })
  await using t = await testbed({ workflows: [filler, single], slots: 1 })
  const sent = [t.send('folder.created')]
  await t.notices.once('run.started')
  sent.push(t.send('file.created'), t.send('file.created'))
  await t.notices.once('run.skipped')
  expect(began).toEqual([])
  free()
  await Promise.all(sent)
  expect(
    t
      .runs(single)
      .map(({ status }) => status)
      .sort(),
  ).toEqual(['completed', 'skipped'])
})
