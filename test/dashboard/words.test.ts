import { expect, onTestFinished, test } from 'vitest'
import { barsOf, placeOf, spanOf } from '../../src/dashboard/pages/run/bars.ts'
import { formOf, readFields } from '../../src/dashboard/parts/read-fields.ts'
import {
  describeForeseen,
  describeForeseenEnd,
  nameApproval,
  nounOf,
  sourceOf,
} from '../../src/dashboard/words/approvals.ts'
import { compareSteps, listChanges } from '../../src/dashboard/words/compare.ts'
import { completeFilter } from '../../src/dashboard/words/complete-filter.ts'
import {
  commandOf,
  countOf,
  formatBytes,
  formatDistance,
  formatDuration,
  formatMoment,
  localOf,
  shellWord,
  steady,
} from '../../src/dashboard/words/format.ts'
import { ceilingOf, foldHours, nameHour } from '../../src/dashboard/words/hours.ts'
import { placeNodes } from '../../src/dashboard/words/place-nodes.ts'
import { canRetry, causeOf, type Run, type Step, tookMs } from '../../src/dashboard/words/runs.ts'
import { lookOf, lookOfVerdict } from '../../src/dashboard/words/states.ts'

const AT = Date.UTC(2026, 10, 22, 12)
const iso = (ms: number) => new Date(AT + ms).toISOString()

test.each([
  [-5, '0 ms'],
  [999, '999 ms'],
  [3_310, '3.3 s'],
  [9_980, '9.9 s'],
  [59_600, '59 s'],
  [119_700, '1 m 59 s'],
  [7_199_000, '1 h 59 m'],
  [172_799_000, '1 d 23 h'],
  [185_000, '3 m 5 s'],
  [7_200_000, '2 h'],
  [90_000_000, '1 d 1 h'],
])('a duration of %i ms reads %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text)
})

test('a moment reads as its distance, before now and after it', () => {
  expect([AT - 900, AT + 900].map((moment) => formatDistance(moment, AT))).toEqual(['now', 'now'])
  expect(formatDistance(AT - 59_000, AT)).toBe('59 s ago')
  expect(formatDistance(AT - 47 * 3_600_000, AT)).toBe('47 h ago')
  expect(formatDistance(AT + 3 * 86_400_000, AT)).toBe('in 3 d')
  expect(formatMoment(AT, true)).toBe('2026-11-22 12:00:00.000 UTC')
})

test('a moment is typed in the zone of the browser, also in a year whose offset had seconds', () => {
  const { TZ } = process.env
  onTestFinished(() => {
    if (TZ === undefined) delete process.env.TZ
    else process.env.TZ = TZ
  })
  process.env.TZ = 'Europe/Berlin'
  const typed = ['0002-01-05T10:30', '2026-07-01T00:00', '2026-12-31T23:59']
  expect(typed.map((text) => localOf(new Date(text).toISOString()))).toEqual(typed)
})

test('a form leaves out a choice that nobody made, and keeps a moment that nobody changed', () => {
  const { fields } = formOf({
    properties: {
      verdict: { type: 'string', enum: ['ok', 'bad'] },
      force: { type: 'boolean' },
      level: { enum: [1, 2] },
    },
    required: ['verdict'],
  })
  expect(readFields(fields, { verdict: 'bad' })).toEqual({ verdict: 'bad' })
  expect(readFields(fields, { verdict: 'bad', force: 'false', level: '2' })).toMatchObject({ force: 'false' })
  const at = { name: 'at', kind: 'moment', value: '2026-11-22T12:00:07.250Z' } as const
  expect(readFields([at], {})).toEqual({ at: at.value })
  expect(readFields([at], { at: '2026-11-22T12:01' })).toEqual({ at: new Date('2026-11-22T12:01').toISOString() })
})

test('a command has the options that have a value, each one word of a shell', () => {
  const values = { verdict: 'stale', endpoint: '', since: undefined, q: 'a b' }
  const options = ['verdict', 'endpoint', 'since', 'q']
  expect(commandOf('upshot deliveries list', values, options)).toBe("upshot deliveries list --verdict stale --q 'a b'")
})

test('bytes and counts read with their unit', () => {
  expect([999_499, 999_500, 9_960, 999_999_999_999].map(formatBytes)).toEqual(['999 kB', '1.0 MB', '10 kB', '1.0 TB'])
  expect([0, 999, 1_200, 18_000_000, 4.3e9].map(formatBytes)).toEqual(['0 B', '999 B', '1.2 kB', '18 MB', '4.3 GB'])
  expect([countOf(1, 'run'), countOf(1_053, 'run')]).toEqual(['1 run', '1,053 runs'])
})

test('every state has a glyph and a word besides its colour', () => {
  expect(lookOf('failed')).toEqual({ state: 'failed', glyph: '✗', word: 'failed' })
  expect(lookOf('waiting', true)).toEqual({ state: 'person', glyph: '☞', word: 'needs you' })
  expect(lookOf('of a later version')).toMatchObject({ state: 'idle', word: 'of a later version' })
  expect(lookOfVerdict('bad_signature')).toMatchObject({ state: 'failed', word: 'bad signature' })
})

const run = { createdAt: iso(0), startedAt: iso(10), finishedAt: null, status: 'running' } as Run
const step = {
  kind: 'run',
  status: 'completed',
  startedAt: iso(10),
  finishedAt: iso(40),
  failures: [] as unknown,
} as Step

test('a run at work is drawn up to now, and a step where it worked', () => {
  const span = spanOf(run, [step], AT + 100)
  expect(span).toEqual({ from: AT, to: AT + 100 })
  expect(barsOf(step, span)).toEqual([{ from: AT + 10, to: AT + 40, look: 'completed' }])
  expect([AT - 5, AT, AT + 40, AT + 200].map((moment) => placeOf(moment, span))).toEqual([0, 0, 40, 100])
})

test('a wait is drawn as waiting, and each failed attempt has a mark', () => {
  const span = { from: AT, to: AT + 100 }
  const failures = [{ attempt: 1, at: iso(20), error: { name: 'Error', message: 'no' } }]
  expect(barsOf({ ...step, kind: 'sleep' }, span)[0]).toMatchObject({ look: 'waiting' })
  expect(barsOf({ ...step, status: 'failed', failures }, span).map(({ look }) => look)).toEqual(['failed', 'failed'])
})

test('a run says its cause, how long it took, and whether a retry may fit', () => {
  expect(causeOf({ ...run, eventType: null, tickAt: iso(0), parentRun: null } as Run)).toBe('tick')
  const successor = { ...run, eventType: null, tickAt: null, origin: 'continue', parentRun: null } as Run
  expect(causeOf(successor)).toBe('the run before it')
  expect(tookMs({ startedAt: null, finishedAt: null }, AT)).toBeNull()
  expect(tookMs(run, AT + 30)).toBe(20)
  expect(canRetry({ status: 'canceled', isCanceledByRule: true })).toBe(false)
})

test.each([
  [0, 2],
  [1, 2],
  [3, 4],
  [10, 10],
  [61, 80],
  [100, 100],
  [4_821, 6_000],
])('the axis of a chart with at most %i ends at %i', (most, top) => {
  expect(ceilingOf(most)).toBe(top)
})

test('an hour has the name of a clock, in UTC or where the browser is', () => {
  expect(nameHour('2026-03-01T09:00:00.000Z', true)).toBe('09:00')
  expect(nameHour('2026-03-01T09:00:00.000Z', false)).toMatch(/^\d\d:(00|30|15|45)$/)
})

test('the last 24 hours are there, those without a run, too', () => {
  const counted = [
    { at: iso(0), status: 'completed', runs: 3 },
    { at: iso(0), status: 'completed', runs: 2 },
    { at: iso(-3_600_000), status: 'failed', runs: 1 },
    { at: iso(-48 * 3_600_000), status: 'failed', runs: 9 },
  ] as const
  const hours = foldHours(counted, AT + 60_000)
  expect(hours).toHaveLength(24)
  expect(hours.at(-1)).toEqual({ at: iso(0), completed: 5, failed: 0, other: 0 })
  expect(hours.at(-2)).toMatchObject({ failed: 1 })
  expect(hours.reduce((sum, { failed }) => sum + failed, 0)).toBe(1)
})

test('a word of a shell is quoted unless it is plain', () => {
  expect(shellWord('storage_a:/in/a.pdf')).toBe('storage_a:/in/a.pdf')
  expect(shellWord("it's $(here)")).toBe(`'it'\\''s $(here)'`)
  expect(shellWord('')).toBe("''")
})

test('an approval is named for its effects, its question, or the lost events that it makes up', () => {
  const open = { status: 'open', items: 3, openItems: 2, why: 'over the limit of 20 deletes in one run' } as const
  expect(nameApproval({ ...open, kind: 'guard' })).toBe('2 effects over the limit of 20 deletes in one run')
  expect(sourceOf({ kind: 'guard', workflow: 'tidy' })).toBe('tidy')
  const why = 'no event told of 60 of the 200 files of storage_a: make their events up?'
  expect(nameApproval({ ...open, kind: 'repair', why })).toBe(why)
  expect([sourceOf({ kind: 'repair', workflow: '' }), nounOf('repair')]).toEqual(['Repair of lost events', 'event'])
})

test('the rest of a held run is told as a sum and an end', () => {
  expect(describeForeseen({ effects: 0, bytes: 0 })).toBe('would ask for nothing more')
  expect(describeForeseen({ effects: 2, bytes: 1_000 })).toBe('would ask for 2 effects more, 1.0 kB')
  const end = (kind: Parameters<typeof describeForeseenEnd>[0]['kind'], reason: string | null = null) =>
    describeForeseenEnd({ kind, step: kind === 'open' ? 'tell' : null, reason })
  expect(end('open', 'no result')).toBe('Nobody knows what comes after the step "tell": no result')
  expect([end('failed', 'boom'), end('halted', 'odd'), end('skipped')]).toEqual([
    'Then it would fail: boom',
    'Then it would stop: odd',
    'Then it would stop.',
  ])
  expect([end('completed'), end('continued')]).toEqual([
    'Then it would complete.',
    'Then it would go on as another run.',
  ])
})

test('two values are compared down to the parts that differ, and those that one lacks', () => {
  const before = { sum: 1, files: [{ size: 4 }, { size: 5 }], gone: true, same: { deep: [1] } }
  const after = { sum: 1, files: [{ size: 4 }, { size: 9 }, { size: 1 }], same: { deep: [1] } }
  expect(listChanges(before, after)).toEqual([
    { path: 'files[1].size', before: 5, after: 9 },
    { path: 'files[2]', before: undefined, after: { size: 1 } },
    { path: 'gone', before: true, after: undefined },
  ])
  expect([listChanges(1, 'one'), listChanges([], {}), listChanges(null, null)].map(({ length }) => length)).toEqual([
    1, 1, 0,
  ])
  const wide = Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`part${index}`, index]))
  expect(listChanges({}, wide)).toHaveLength(50)
})

test('the steps of two runs are compared by key, with what each gave', () => {
  const error = { name: 'Error', message: 'full' }
  const made = (key: string, output: unknown) => ({ key, status: 'completed', output, error: null }) as const
  const failed = (key: string) => ({ key, status: 'failed', output: null, error }) as const
  const compared = compareSteps(
    [made('read', 1), made('copy', 2), made('tell', 3)],
    [made('read', 1), failed('copy'), made('old', 1)],
  )
  expect(compared.map(({ key, standing }) => `${key} ${standing}`)).toEqual([
    'read same',
    'copy differs',
    'tell only_here',
    'old only_there',
  ])
  expect(compared[1]?.changes.map(({ path }) => path)).toEqual(['status', 'error', 'result'])
})

test('a step of a graph is right of all before it, and a way back moves nothing', () => {
  const nodes = ['read', 'copy', 'check', 'tell'].map((name) => ({ name }))
  const edges = [
    ['read', 'copy'],
    ['read', 'check'],
    ['copy', 'tell'],
    ['tell', 'copy'],
  ]
  const places = placeNodes({ nodes, edges: edges.map(([from = '', to = '']) => ({ from, to })) })
  expect([...places].map(([name, { column, row }]) => `${name} ${column},${row}`)).toEqual([
    'read 0,0',
    'copy 1,0',
    'check 1,1',
    'tell 2,0',
  ])
})

test('a search completes its last word: the name of a filter, then a value, and keeps the words before', () => {
  const filters = { status: ['failed', 'waiting'], since: ['1h'], tag: [] }
  expect(completeFilter('s', filters)).toEqual(['status:', 'since:'])
  expect(completeFilter('a.txt status:', filters)).toEqual(['a.txt status:failed', 'a.txt status:waiting'])
  expect(completeFilter('a.txt status:f', filters)).toEqual(['a.txt status:failed'])
  for (const text of ['', 'status:failed ', 'status:failed', 'tag:customer', 'note:x']) {
    expect(completeFilter(text, filters), text).toEqual([])
  }
})

test('a character that turns a text, or that nobody sees, is shown as its number', () => {
  expect(steady('/in/a\u200Bb\u{E0041}.txt')).toBe('/in/a⟨U+200b⟩b⟨U+e0041⟩.txt')
  expect(steady('می\u200Cخواهم')).toBe('می\u200Cخواهم')
  expect(steady('👨‍👩‍👧‍👦 ❤️ 1️⃣')).toBe('👨‍👩‍👧‍👦 ❤️ 1️⃣')
  expect(steady('/in/\u202efdp.exe \u2066a\u2069 é😀')).toBe('/in/⟨U+202e⟩fdp.exe ⟨U+2066⟩a⟨U+2069⟩ é😀')
  expect(steady('a\u00a0b\u3000c\u2028d\u0085e\u0007')).toBe('a⟨U+00a0⟩b⟨U+3000⟩c⟨U+2028⟩d⟨U+0085⟩e⟨U+0007⟩')
  expect(steady('{\n\t"a b": 1\r\n}')).toBe('{\n\t"a b": 1\r\n}')
})
