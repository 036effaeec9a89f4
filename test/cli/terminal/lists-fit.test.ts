import { describe, expect, test } from 'vitest'
import { DELIVERY_COLUMNS } from '../../../src/cli/commands/deliveries.ts'
import { EVENT_COLUMNS } from '../../../src/cli/commands/events/list.ts'
import { RUN_COLUMNS } from '../../../src/cli/commands/runs/run-view.ts'
import { APPROVAL_COLUMNS } from '../../../src/cli/commands/safety/approvals/list.ts'
import { EFFECT_COLUMNS } from '../../../src/cli/commands/safety/effects/effects.ts'
import { ALERT_COLUMNS } from '../../../src/cli/commands/watch/alerts.ts'
import { type Column, formatTable } from '../../../src/cli/terminal/table.ts'
import { columnsOf } from '../../../src/notices/log/fit-text.ts'

const NOW = Date.UTC(2026, 5, 1, 12)
const OLD = NOW - 90 * 86_400_000
const ID = (prefix: string) => `${prefix}_1kt1gw6g3001d4qz5qx72wb`
/** Text in wide, combining and right-to-left characters, each longer than any terminal. */
const WORDS = [
  'storage_a:/in/q3/ledger-6431'.repeat(8),
  '保管庫/請求書'.repeat(30),
  'e\u0301a\u0308\u0323'.repeat(90),
  'שלום-مرحبا'.repeat(20),
  '👩‍👩‍👧🇩🇪'.repeat(60),
]

/** A row that answers each of these fields with `word` and all others as given. */
const rowsOf = (make: (word: string) => object) => WORDS.map(make) as never[]

const LISTS: Record<string, { columns: readonly Column<never>[]; rows: never[] }> = {
  runs: {
    columns: RUN_COLUMNS as readonly Column<never>[],
    rows: rowsOf((word) => ({
      id: ID('run'),
      workflow: word,
      status: 'completed',
      reason: word,
      cause: { kind: 'event', eventId: word },
      createdAt: OLD,
      startedAt: OLD,
      finishedAt: OLD + 7_500_000,
      dueAt: null,
      error: null,
      tags: { customer: word },
      progress: { done: 1, total: 3, failed: 0, note: word, rate: 1 },
    })),
  },
  events: {
    columns: EVENT_COLUMNS as readonly Column<never>[],
    rows: rowsOf((word) => ({
      id: word,
      type: `file.${word}`,
      receivedAt: OLD,
      origin: 'webhook',
      account: word,
      body: word,
    })),
  },
  deliveries: {
    columns: DELIVERY_COLUMNS as readonly Column<never>[],
    rows: rowsOf((word) => ({
      id: ID('dlv'),
      receivedAt: OLD,
      endpoint: word,
      verdict: 'unknown_endpoint',
      eventId: word,
      bodyBytes: 123_456,
      facts: { reason: word },
    })),
  },
  approvals: {
    columns: APPROVAL_COLUMNS as readonly Column<never>[],
    rows: rowsOf((word) => ({
      id: ID('apr'),
      status: 'open',
      kind: 'guard',
      workflow: word,
      why: word,
      runs: 1_000,
      openItems: 10_000,
      items: 10_000,
      bytes: 1e12,
      expiresAt: NOW + 86_400_000 * 3,
    })),
  },
  alerts: {
    columns: ALERT_COLUMNS as readonly Column<never>[],
    rows: rowsOf((word) => ({ name: word, when: 'run.failed', workflow: word, channels: [{ name: word }], open: [] })),
  },
  effects: {
    columns: EFFECT_COLUMNS as readonly Column<never>[],
    rows: rowsOf((word) => ({
      seq: 1_234_567,
      at: OLD,
      phase: 'unsettled',
      operation: word,
      path: word,
      target: word,
      bytes: 1e9,
      outcome: word,
      runId: ID('run'),
      actor: word,
      approval: null,
      workflow: word,
    })),
  },
}

describe.each([80, 100, 160])('at %i columns', (width) => {
  test.each(Object.keys(LISTS))('each line of the list of %s fits, whatever its texts are', (name) => {
    const { columns = [], rows = [] } = LISTS[name] ?? {}
    const lines = formatTable(rows, columns, { width, paint: (_style, text) => text })
    expect(lines).toHaveLength(WORDS.length + 1)
    expect(lines.filter((line) => columnsOf(line) > width)).toEqual([])
  })
})

test('at 80 columns the list of deliveries keeps room for the reason of a refusal', () => {
  const facts = { reason: 'signed with a secret that was retired on 2026-01-01' }
  const main = { endpoint: 'main', bodyBytes: 900, receivedAt: OLD }
  const rows = [
    { ...main, id: ID('dlv'), verdict: 'bad_signature', eventId: null, facts },
    { ...main, id: `${ID('dlv')}2`, verdict: 'accepted', eventId: 'evt_5f0c8a0e-6a40-4d3f-9a0a', facts: {} },
  ] as never[]
  const at = (width: number) => formatTable(rows, DELIVERY_COLUMNS, { width, paint: (_style, text) => text })
  expect(at(80)[1]).toMatch(/ {2}signed with a secret th\S*…$/)
  expect(at(160)[0]).toBe(at(160)[0]?.match(/.*ENDPOINT.*EVENT.*SIZE.*WHY$/)?.[0])
})

test('the list of effects shows a run by its whole id, which its filter takes, or not at all', () => {
  const row = {
    seq: 7,
    at: OLD,
    phase: 'done',
    operation: 'files.delete',
    path: '/in/a.pdf',
    bytes: 900,
    outcome: 'deleted',
  }
  const rows = [{ ...row, runId: ID('run'), actor: null, approval: null, workflow: 'tidy' }] as never[]
  const at = (width: number) => formatTable(rows, EFFECT_COLUMNS, { width, paint: (_style, text) => text }).join('\n')
  expect(at(120)).toContain(ID('run'))
  expect(at(80)).not.toContain('run_')
})
