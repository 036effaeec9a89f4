import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import type { FileEntry } from '../../src/core/service/file.ts'
import { EMPTY_BOOK, type FileEvent, type FileFinding } from '../../src/core/service/sweep/judge-file.ts'
import { beginSweep, newState } from '../../src/core/service/sweep/sweep-state.ts'
import type { PruneProgress } from '../../src/core/store/retention.ts'
import type { Store } from '../../src/core/store/store.ts'
import type { KeptSweep, ListedFile } from '../../src/core/store/sweeps.ts'
import { SweepWorld } from '../schedule/sweep/support/sweep-world.ts'
import { NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { countPrunable } from './support/count-prunable.ts'

const DAY = 86_400_000

const KEY = { account: 'default', storage: 'storage_a' } as const

const PLAN = { ...KEY, path: '/', recursive: true, everyMs: 1, budget: 0.1, graceMs: 1, repair: 'events' } as const

const FINDING: FileFinding = {
  ...KEY,
  file: 'fil_1',
  type: 'file.created',
  state: 'found',
  sweep: 2,
  foundAt: NOW,
  path: '/a',
  entry: '{}',
  reason: null,
  approval: null,
  event: null,
  lateEvent: null,
}

function listed(file: string, part: Partial<ListedFile> = {}): ListedFile {
  return { file, path: `/${file}`, size: 1, createdAt: NOW, modifiedAt: null, isFolder: false, ...part }
}

function page(entries: number, total: number, nextPage: number | null = null) {
  return { entries, totalItems: total, nextPage, nextToken: null, passedOver: 0 }
}

async function begin(store: Store): Promise<KeptSweep> {
  const kept = await store.loadSweep('default', 'storage_a')
  const state = beginSweep(kept?.state ?? newState(PLAN, null), NOW)
  const version = kept?.version ?? 0
  const begun = { ...KEY, state, version, forgottenTo: null }
  expect(await store.saveSweep(begun)).toBe(true)
  return { ...begun, version: version + 1 }
}

/** A complete sweep of three files, and more. */
async function seeThree(store: Store, more: readonly ListedFile[] = []): Promise<KeptSweep> {
  const files = [...['fil_1', 'fil_2', 'fil_3'].map((id) => listed(id)), ...more]
  const saved = await store.savePage(await begin(store), page(files.length, files.length), files, NOW)
  if (saved === null) throw new Error('another process swept')
  return saved
}

function fileOf(world: SweepWorld, id: string): FileEntry {
  const file = world.files.get(id)
  if (file === undefined) throw new Error('the storage has it')
  return file
}

/** Prunes files to the end; how many rows it removed. */
async function prune(store: Store, before: number): Promise<number> {
  const foreseen = await countPrunable(store, 'files', { before, now: NOW })
  let sum = 0
  for (let after: string | null = ''; after !== null; ) {
    const slice: PruneProgress = await store.prune({ kind: 'files', before, now: NOW, limit: 2, after })
    sum += slice.pruned
    after = slice.next
  }
  expect(foreseen).toMatchObject({ rows: sum, isComplete: true })
  return sum
}

describeStores((test, open) => {
  test('old findings go with the files that are gone, and those to be decided stay', async ({ store }) => {
    const kept = await begin(store)
    const states = ['found', 'held', 'due', 'missing', 'unclear', 'made', 'reported', 'denied'] as const
    const findings = states.map((state) => ({ ...FINDING, file: state, state }))
    await store.saveSweep(kept, { findings: [...findings, { ...FINDING, file: 'new', foundAt: NOW + DAY }] })
    expect(await prune(store, NOW + 1)).toBe(5)
    const left = (await store.listFindings({ limit: 100 })).map(({ file }) => file)
    expect(left.toSorted()).toEqual(['due', 'found', 'held', 'new'])
  })

  test('a file whose id no index can have, or no text, is passed over, and others are judged', async ({ store }) => {
    const world = new SweepWorld(store)
    const long = randomBytes(1_500).toString('hex')
    world.files.set(long, { ...fileOf(world, world.add()), id: long })
    world.files.set('fil_\0', { ...fileOf(world, long), id: 'fil_\0' })
    await world.tell('file.created', long, 'evt_long')
    await world.tell('file.created', 'fil_\ud800', 'evt_half')
    await world.clock.advance(1)
    await world.run(DAY / 24)
    const lost = world.add()
    await world.run(DAY / 3)
    expect(await store.listFindings({ limit: 9 })).toMatchObject([{ file: lost, state: 'missing' }])
    const unread = { 'default file.created': { count: 2, event: 'evt_half' } }
    expect((await store.loadFileBook())?.book.unread).toMatchObject(unread)
  })

  test('of two processes that save a page of a sweep, one is refused, and nothing is counted twice', async () => {
    const { store, reopen } = await open()
    const other = await reopen()
    const kept = await begin(store)
    const files = [listed('fil_1'), listed('fil_2'), listed('fol_1', { isFolder: true, size: null })]
    const saved = await Promise.all([store, other].map((each) => each.savePage(kept, page(3, 4, 2), files, NOW)))
    expect(saved.filter((each) => each !== null)).toHaveLength(1)
    const next = await store.loadSweep('default', 'storage_a')
    expect(next?.state).toMatchObject({ phase: 'listing', page: 2, seen: 3, files: 2, total: 4 })
    expect(await other.savePage(next as KeptSweep, page(2, 4), [listed('fil_2'), listed('fil_3')], NOW)).toMatchObject({
      state: { phase: 'judging', seen: 4, files: 3, baseline: 1, complete: [{ number: 1, entries: 4, isExact: null }] },
    })
    expect(await store.listSweeps()).toEqual([await store.loadSweep('default', 'storage_a')])
  })

  test('suspects are read in slices: those that came after the baseline, and those not seen again', async () => {
    const { store } = await open()
    await store.savePage(
      await begin(store),
      page(3, 3),
      ['fil_1', 'fil_2', 'fil_3'].map((id) => listed(id)),
      NOW,
    )
    const second = await begin(store)
    const files = ['fil_1', 'fil_4', 'fil_5'].map((id) => listed(id))
    const saved = await store.savePage(second, page(3, 3), files, NOW + 5)
    expect(saved?.state).toMatchObject({ kept: 1, complete: [{ isExact: false }, { isExact: null }] })
    const query = { ...KEY, arrivedAfter: 1, seenUntil: NOW + 5, lastBefore: 2, goneUntil: 0 }
    const first = await store.listSuspects({ ...query, after: '', limit: 3 })
    expect(first).toMatchObject({ files: [{ file: 'fil_2' }, { file: 'fil_3' }], next: 'fil_3' })
    const rest = await store.listSuspects({ ...query, after: 'fil_3', limit: 3 })
    expect(rest).toMatchObject({ files: [{ file: 'fil_4', firstSweep: 2 }, { file: 'fil_5' }], next: null })
    const counted = await store.countFiles({ ...KEY, after: '', limit: 3, baseline: 1, since: NOW })
    expect(counted).toEqual({ known: 3, arrived: 0, arrivedReported: 0, gone: 0, goneReported: 0, next: 'fil_3' })
    const others = await store.countFiles({ ...KEY, after: 'fil_3', limit: 3, baseline: 1, since: NOW })
    expect(others).toMatchObject({ known: 2, arrived: 2, next: null })
    const kept = saved as KeptSweep
    const marks = [
      { file: 'fil_2', kind: 'gone', at: NOW } as const,
      { file: 'fil_3', kind: 'present', sweep: 2 } as const,
      { file: 'fil_4', kind: 'arrival' } as const,
    ]
    expect(await store.saveSweep(kept, { marks })).toBe(true)
    expect(await store.saveSweep(kept, { marks })).toBe(false)
    const left = await store.listSuspects({ ...query, after: '', limit: 99 })
    expect(left.files.map(({ file }) => file)).toEqual(['fil_5'])
    const gone = await store.listSuspects({ ...query, goneUntil: NOW, after: '', limit: 99 })
    expect(gone.files.map(({ file }) => file)).toEqual(['fil_2', 'fil_5'])
  })

  test('an event is made up once, and not when one told of its file meanwhile', async ({ store }) => {
    const findings = ['fil_1', 'fil_2'].map((file) => ({ ...FINDING, file }))
    const kept = await begin(store)
    expect(await store.saveSweep(kept, { findings, settle: { state: 'due', held: null } })).toBe(true)
    const event = { ...KEY, file: 'fil_2', type: 'file.created', event: 'evt_real', at: NOW }
    expect(await store.saveFileBook(EMPTY_BOOK, 0, [event])).toBe(true)
    expect(await store.saveFileBook(EMPTY_BOOK, 0, [])).toBe(false)
    expect(await store.loadFileBook()).toEqual({ book: EMPTY_BOOK, version: 1 })
    const asked = { ...KEY, type: 'file.created', files: ['fil_1', 'fil_2'] } as const
    expect(await store.listReportedFiles(asked)).toEqual(['fil_2'])
    const sent = { type: 'file.created', account: 'default', createdAt: NOW, body: '{}', workflows: [] }
    const make = (file: string) => store.makeUpEvent({ ...FINDING, file }, { ...sent, id: `evt_${file}` })
    expect([await make('fil_1'), await make('fil_1'), await make('fil_2')]).toEqual([true, false, false])
    expect(await store.listEvents({ limit: 9 })).toMatchObject([{ id: 'evt_fil_1', origin: 'reconcile' }])
    const late = { ...event, file: 'fil_1', event: 'evt_late' }
    expect(await store.saveFileBook(EMPTY_BOOK, 1, [late])).toBe(true)
    expect(await store.listFindings({ limit: 9 })).toMatchObject([
      { file: 'fil_1', state: 'made', event: 'evt_fil_1', lateEvent: 'evt_late' },
      { file: 'fil_2', state: 'reported', event: null, lateEvent: 'evt_real' },
    ])
  })

  test('an event that was matched before its file is called lost keeps the loss from being made up', async () => {
    const { store } = await open()
    const event = { ...KEY, file: 'fil_1', type: 'file.created', event: 'evt_real', at: NOW }
    expect(await store.saveFileBook(EMPTY_BOOK, 0, [event])).toBe(true)
    const kept = await begin(store)
    await store.saveSweep(kept, { findings: [FINDING], settle: { state: 'due', held: null } })
    const sent = { id: 'evt_1', type: 'file.created', account: 'default', createdAt: NOW, body: '{}', workflows: [] }
    expect(await store.makeUpEvent(FINDING, sent)).toBe(false)
    expect(await store.listEvents({ limit: 9 })).toEqual([])
  })

  test('findings that are held share one approval, whose items are the missing events', async ({ store }) => {
    const held = { why: 'too many', needs: 1, now: NOW, expiresAt: NOW + 9 }
    const kept = await begin(store)
    await store.saveSweep(kept, { findings: [FINDING], settle: { state: 'held', held } })
    const [approval] = await store.listApprovals({ limit: 9, now: NOW, workflow: '' })
    expect(approval).toMatchObject({ kind: 'repair', items: 1, why: 'too many' })
    const [finding] = await store.listFindings({ states: ['held'], limit: 9 })
    expect(finding).toMatchObject({ approval: approval?.id, state: 'held' })
    expect(await store.moveFinding(FINDING, 'held', 'denied', 'no')).toBe(true)
    expect(await store.moveFinding(FINDING, 'held', 'due', null)).toBe(false)
    expect(await store.findFinding(FINDING)).toMatchObject({ state: 'denied', reason: 'no' })
    expect(await store.hasOwnDelete('default', ['storage_a:fil_1'])).toBe(false)
  })

  test('files that are gone for long enough are forgotten, and the sweep knows of it', async ({ store }) => {
    const { version } = await seeThree(store)
    const state = { ...(await store.loadSweep('default', 'storage_a'))?.state, baseline: 1 } as KeptSweep['state']
    const marks = [
      { file: 'fil_1', kind: 'gone', at: NOW - 90 * DAY } as const,
      { file: 'fil_2', kind: 'gone', at: NOW - 91 * DAY } as const,
      { file: 'fil_3', kind: 'gone', at: NOW - 10 * DAY } as const,
    ]
    expect(await store.saveSweep({ ...KEY, state, version, forgottenTo: null }, { marks })).toBe(true)
    const slice = { kind: 'files', before: NOW - 60 * DAY, now: NOW, limit: 1 } as const
    expect(await store.prune({ ...slice, after: null })).toEqual({ pruned: 1, next: '' })
    expect(await store.loadSweep('default', 'storage_a')).toMatchObject({ forgottenTo: NOW - 91 * DAY })
    expect(await prune(store, NOW - 60 * DAY)).toBe(1)
    expect(await store.loadSweep('default', 'storage_a')).toMatchObject({ forgottenTo: NOW - 90 * DAY })
    const query = { ...KEY, arrivedAfter: 0, seenUntil: NOW, lastBefore: 9, goneUntil: NOW, after: '', limit: 9 }
    expect((await store.listSuspects(query)).files).toMatchObject([{ file: 'fil_3' }])
  })

  test('what an event told of a file goes once no sweep needs it, and the file is counted as told', async () => {
    const { store } = await open()
    const old = NOW - 100 * DAY
    const { version, state } = await seeThree(store)
    const complete = state.complete.map((sweep) => ({ ...sweep, startedAt: NOW - 50 * DAY }))
    const tell = (file: string, part: Partial<FileEvent> = {}) => ({
      ...KEY,
      file,
      type: 'file.created',
      event: `evt_${file}`,
      at: old,
      ...part,
    })
    const events = [
      tell('fil_1'),
      tell('fil_2'),
      tell('fil_3', { at: NOW - 40 * DAY }),
      tell('fil_1', { type: 'file.deleted' }),
      tell('fil_never'),
      tell('fil_never', { at: NOW - 55 * DAY, event: 'evt_later' }),
      tell('fil_other', { storage: 'storage_b' }),
      // A page that has it may be on its way.
      tell('fil_unseen', { type: 'file.deleted', at: NOW - DAY }),
    ]
    expect(await store.saveFileBook(EMPTY_BOOK, 0, events)).toBe(true)
    const marks = [{ file: 'fil_1', kind: 'arrival' } as const]
    const kept = { ...KEY, state: { ...state, baseline: 0, complete }, version, forgottenTo: null }
    expect(await store.saveSweep(kept, { marks })).toBe(true)
    // Of the file that no sweep saw, one event is kept: it is younger than the retention.
    expect(await prune(store, NOW - 60 * DAY)).toBe(3)
    const told = (type: string, files: string[]) => store.listReportedFiles({ ...KEY, type, files })
    expect(await told('file.created', ['fil_1', 'fil_2', 'fil_3', 'fil_never'])).toEqual([
      'fil_2',
      'fil_3',
      'fil_never',
    ])
    expect(await told('file.deleted', ['fil_1', 'fil_unseen'])).toEqual(['fil_1', 'fil_unseen'])
    expect(await store.loadSweep('default', 'storage_a')).toMatchObject({ forgottenTo: old })
    const counted = await store.countFiles({ ...KEY, after: '', limit: 9, baseline: 0, since: 0 })
    expect(counted).toMatchObject({ known: 3, arrived: 3, arrivedReported: 3 })
  })

  test('a folder that is forgotten makes no file unclear', async ({ store }) => {
    const { version, state } = await seeThree(store, [listed('fol_1', { isFolder: true })])
    const marks = [{ file: 'fol_1', kind: 'gone', at: 0 } as const]
    expect(await store.saveSweep({ ...KEY, state, version, forgottenTo: null }, { marks })).toBe(true)
    expect(await prune(store, NOW)).toBe(1)
    expect(await store.loadSweep('default', 'storage_a')).toMatchObject({ forgottenTo: null })
  })

  test('files and folders that a listing does not have any more are given up without a word', async ({ store }) => {
    const { version, state } = await seeThree(store, [listed('fol_1', { isFolder: true })])
    const query = { ...KEY, arrivedAfter: 2, seenUntil: NOW, lastBefore: 2, goneUntil: NOW, after: '', limit: 9 }
    const { files } = await store.listSuspects(query)
    expect(files.map(({ file, isFolder }) => [file, isFolder])).toEqual([
      ...['fil_1', 'fil_2', 'fil_3'].map((file) => [file, 0]),
      ['fol_1', 1],
    ])
    const marks = files.map(({ file }) => ({ file, kind: 'gone', at: 0 }) as const)
    expect(await store.saveSweep({ ...KEY, state, version, forgottenTo: null }, { marks })).toBe(true)
    expect((await store.listSuspects(query)).files).toEqual([])
    const counted = await store.countFiles({ ...KEY, after: '', limit: 9, baseline: 0, since: 1 })
    expect(counted).toMatchObject({ known: 0, gone: 0 })
    const folder = { kind: 'files', before: 1, now: NOW + 5, limit: 9, after: null } as const
    expect(await store.prune(folder)).toMatchObject({ pruned: 4 })
    // Nobody saw the files go.
    expect(await store.loadSweep('default', 'storage_a')).toMatchObject({ forgottenTo: NOW + 5 })
  })
})
