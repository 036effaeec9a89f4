import { Command } from 'commander'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Cli } from '../../../src/cli/command.ts'
import { list } from '../../../src/cli/commands/deliveries.ts'
import type { Operations } from '../../../src/cli/open/operations.ts'
import { noteSearched, readList } from '../../../src/cli/operate/list-command.ts'
import { openTerminal } from '../support/fake-terminal.ts'

const FROM = '2026-06-01T12:00:00.000Z'

/** Operations that answer pages of this many events, and never the last one. */
function answerPages(items: number, rows: number) {
  const asked: unknown[] = []
  const perform = async (_name: string, input: unknown) => {
    asked.push(input)
    const searched = { from: FROM, rows, isComplete: false, ms: 1 }
    return { items: Array.from({ length: items }, () => ({})), next: `n${asked.length}`, searched }
  }
  return { asked, operations: { local: null, perform } as unknown as Operations }
}

test('a list joins pages until its limit, however slow they are, and asks for no more than is left', async () => {
  let moment = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (moment += 5_000))
  const { asked, operations } = answerPages(500, 500)
  const page = await readList(operations, 'GET /events', { input: { query: { type: 'a.*' } }, limit: 1_200 })
  clock.mockRestore()
  expect(page.items).toHaveLength(1_500)
  expect(page).toMatchObject({ next: 'n3', searched: { rows: 1_500 } })
  expect(asked).toEqual([
    { query: { type: 'a.*', limit: 500 } },
    { query: { type: 'a.*', limit: 500, after: 'n1' } },
    { query: { type: 'a.*', limit: 200, after: 'n2' } },
  ])
})

test('a search ends after its budget, says how far it looked, and names the way on', async () => {
  let moment = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (moment += 500))
  const { operations } = answerPages(0, 5_000)
  const page = await readList(operations, 'GET /events', { input: { query: {} }, limit: 20 })
  clock.mockRestore()
  expect(page.searched).toMatchObject({ rows: 20_000, isComplete: false, from: FROM })
  const { out, seen, says } = openTerminal()
  noteSearched(out, page, { limit: 20, what: 'events' })
  await says('--until')
  expect(seen.stderr).toBe(
    'Looked at the newest 20,000 events, back to 2026-06-01T12:00:00.000Z, and stopped after 2 s. ' +
      'Look further back with --until 2026-06-01T12:00:00.001Z\n',
  )
})

test('a search without --until goes on until it has found enough, however long that takes', async () => {
  let moment = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (moment += 5_000))
  onTestFinished(() => clock.mockRestore())
  let pages = 0
  const perform = async () => {
    const isComplete = ++pages === 9
    const searched = { from: isComplete ? null : FROM, rows: 5_000, isComplete, ms: 1 }
    return { items: [], unlisted: [], searched, next: isComplete ? null : `n${pages}` }
  }
  const operations = { local: null, perform } as unknown as Operations
  const { out, seen } = openTerminal()
  const project = { withOperations: (use: (operations: Operations) => Promise<void>) => use(operations) }
  const command = new Command()
  list(command as never, { out, project } as unknown as Cli)
  await command.parseAsync(['node', 'list', '--verdict', 'conflict'])
  expect(pages).toBe(9)
  expect(seen.stderr).toBe('No delivery matches.\n')
})
