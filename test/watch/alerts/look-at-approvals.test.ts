import { expect } from 'vitest'
import { type AlertBook, EMPTY_BOOK, takeIn } from '../../../src/core/alerts/alert-book.ts'
import type { Approval } from '../../../src/core/safety/approval.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { lookFor } from '../../../src/watch/alerts/look.ts'
import { NOW } from '../../support/fixtures.ts'
import { openTestStore, test } from '../../support/test-store.ts'
import { RULE } from './support/open-alerts.ts'

const rule = { ...RULE, when: 'approval.asked' } as const

function look(store: Partial<Store>, { position, topics }: AlertBook = EMPTY_BOOK) {
  const parts = { store: { ...openTestStore(), ...store }, readDiskUse: async () => null, previewShadows: () => null }
  return lookFor(parts, rule, { position, topics }, NOW)
}

test('an approval of lost events says that they ask to be made up', async () => {
  const repair = { id: 'apr_1', kind: 'repair', workflow: null, account: 'acme', openedAt: NOW, openItems: 60 }
  const listApprovals = async () => [repair] as unknown as Approval[]
  expect((await look({ listApprovals })).sightings).toMatchObject([
    { title: '60 lost events of account acme ask to be made up' },
  ])
})

test('a thousand newer approvals do not make an older one look over', async () => {
  const ask = (id: string, status = 'open') =>
    ({ id, kind: 'question', workflow: 'w', account: 'default', openedAt: NOW, openItems: 0, status }) as Approval
  const first = takeIn(rule, EMPTY_BOOK, await look({ listApprovals: async () => [ask('apr_2'), ask('apr_1')] }), NOW)
  const newer = Array.from({ length: 1_000 }, (_, n) => ask(`apr_9${String(n).padStart(3, '0')}`))
  const findApproval = async (id: string) => ask(id, id === 'apr_1' ? 'approved' : 'open')
  const seen = takeIn(rule, first, await look({ listApprovals: async () => newer, findApproval }, first), NOW)
  expect(seen.topics.find(({ id }) => id === 'apr_2')).toMatchObject({ endedAt: null })
  expect(seen.topics.find(({ id }) => id === 'apr_1')?.endedAt ?? NOW).toBe(NOW)
})
