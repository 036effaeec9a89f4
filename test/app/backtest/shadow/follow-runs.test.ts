import { expect, test } from 'vitest'
import { followRuns } from '../../../../src/app/backtest/shadow/follow-runs.ts'
import { beginShadow, isBehind } from '../../../../src/core/safety/differences/shadow-book.ts'
import { DEFAULT_POLICY } from '../../../../src/core/safety/guard.ts'

const MINUTE_MS = 60_000

test('after a pause, an hour without a run is one look', async () => {
  const now = 90 * MINUTE_MS
  const windows: unknown[] = []
  const store = {
    listRuns: async ({ since, until }: { since: number; until: number }) => {
      windows.push([since / MINUTE_MS, until / MINUTE_MS])
      return []
    },
  } as unknown as Parameters<typeof followRuns>[0]
  const room = {
    playAll: async () => [],
    settings: { workflowsDir: '', guard: DEFAULT_POLICY, spellings: {} },
    code: { workflows: [], broken: [], undeclared: [] },
  }
  const follower = { workflow: 'tidy', room, signal: new AbortController().signal, now }
  const book = await followRuns(store, beginShadow('tidy.shadow.ts', 0), follower)
  expect(book.followed).toBe(60 * MINUTE_MS)
  expect(windows).toHaveLength(60)
  expect(windows[59]).toEqual([59, 60])
  const next = await followRuns(store, book, follower)
  expect(isBehind(next, now)).toBe(false)
})
