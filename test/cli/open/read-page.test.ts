import { expect, test } from 'vitest'
import { noteSearched, readPage } from '../../../src/cli/open/read-page.ts'
import { NOW } from '../../support/fixtures.ts'
import { openTerminal } from '../support/fake-terminal.ts'

test('a search ends after its budget, says how far it looked, and names the way on', async () => {
  let moment = 0
  const read = async () => ({ items: [] as string[], next: 'older', rows: 5_000, from: NOW })
  const page = await readPage(read, 20, () => (moment += 500))
  expect(page.searched).toMatchObject({ rows: 20_000, isComplete: false, from: NOW })
  const { out, seen, says } = openTerminal()
  noteSearched(out, page, { limit: 20, what: 'events' })
  await says('--until')
  expect(seen.stderr).toBe(
    'Looked at the newest 20,000 events, back to 2026-06-01T12:00:00.000Z, and stopped after 2 s. ' +
      'Look further back with --until 2026-06-01T12:00:00.001Z\n',
  )
})

test('a full or complete page says nothing about its search', async () => {
  const { out, seen } = openTerminal()
  const searched = { rows: 1, ms: 1, from: NOW, isComplete: false }
  noteSearched(out, { items: ['a'], next: 'older', searched }, { limit: 1, what: 'runs' })
  noteSearched(out, { items: [], next: null, searched: { ...searched, isComplete: true } }, { limit: 1, what: 'runs' })
  expect(seen.stderr).toBe('')
})
