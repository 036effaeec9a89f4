import { hash } from 'node:crypto'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { openConnection } from '../../../../src/store/sqlite/database/connection.ts'
import { GroupCommit } from '../../../../src/store/sqlite/database/group-commit.ts'
import { openDatabase } from '../../../../src/store/sqlite/database/open-database.ts'
import { EventTable } from '../../../../src/store/sqlite/incoming/event-table.ts'
import { BloomFilter } from '../../../../src/store/sqlite/incoming/known-events.ts'
import { incoming } from '../../../support/fixtures.ts'
import { makeDatabase } from '../../../support/ready-database.ts'
import { tempFolder } from '../../../support/temp-folder.ts'

/** Blocks and segments of few rows, so that a short test fills many. */
const ROW_COUNTS = { blockRows: 4, segmentRows: 2 }

/** The events as one process sees them. */
function openProcess(file: string) {
  makeDatabase(file)
  const db = openDatabase(file)
  const events = new EventTable(openConnection(db), ROW_COUNTS)
  const commit = new GroupCommit(db, [events.known])
  return {
    db,
    save: (id: string) => commit.write(async () => (await events.save(incoming(id))).kind),
    /** Saves events in one transaction, which then fails. */
    saveInVain: (ids: string[]) =>
      commit
        .write(async () => {
          for (const id of ids) await events.save(incoming(id))
          throw new Error('in vain')
        })
        .catch(() => {}),
    blocks: () => db.prepare('SELECT number FROM event_block ORDER BY number').pluck().all(),
    find: (id: string) => events.findSeqs(id, 'default'),
    close: () => void db.close(),
  }
}

const id = fc.integer({ min: 1, max: 40 }).map((number) => `evt_${number}`)
const process = fc.constantFrom(0, 1)
const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('save' as const), process, id }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('vain' as const), process, ids: fc.array(id, { maxLength: 12 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), process }) },
)

test('an event is new once, whatever processes, restarts, blocks and failed commits come between', async () => {
  const folder = tempFolder()
  let round = 0
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 20, maxLength: 80 }), async (actions) => {
      const file = join(folder, `${round++}.db`)
      const processes = [openProcess(file), openProcess(file)]
      const model = new Set<string>()
      for (const step of actions) {
        const at = processes[step.process]
        if (!at) continue
        if (step.kind === 'save') {
          expect(await at.save(step.id)).toBe(model.has(step.id) ? 'known' : 'new')
          model.add(step.id)
        } else if (step.kind === 'vain') {
          await at.saveInVain(step.ids)
        } else {
          at.close()
          processes[step.process] = openProcess(file)
        }
      }
      for (let number = 1; number <= 40; number++) {
        const count = model.has(`evt_${number}`) ? 1 : 0
        for (const each of processes) expect(await each.find(`evt_${number}`)).toHaveLength(count)
      }
      for (const each of processes) each.close()
    }),
    { numRuns: 60 },
  )
}, 60_000)

test('the filter of a full block is stored, and built again when its row is missing', async () => {
  const file = join(tempFolder(), 'events.db')
  const first = openProcess(file)
  for (let n = 0; n < 10; n++) await first.save(`evt_${n}`)
  expect(first.blocks()).toEqual([0, 1])
  first.db.exec('DELETE FROM event_block WHERE number = 0')
  first.close()
  const second = openProcess(file)
  onTestFinished(() => second.close())
  for (let n = 0; n < 10; n++) expect(await second.save(`evt_${n}`)).toBe('known')
  expect(await second.save('evt_10')).toBe('new')
})

test('a Bloom filter never denies what is in it, and is seldom wrong about the rest', () => {
  const rows = 2_000
  const filter = new BloomFilter(rows)
  const identity = (n: number) => hash('sha256', String(n), 'buffer')
  for (let n = 0; n < rows; n++) filter.add(identity(n))
  const reopened = new BloomFilter(rows, filter.toBytes())
  for (let n = 0; n < rows; n++) expect(reopened.mayHold(identity(n))).toBe(true)
  let wrong = 0
  for (let n = rows; n < 10 * rows; n++) if (reopened.mayHold(identity(n))) wrong += 1
  expect(wrong / (9 * rows)).toBeLessThan(0.005)
})
