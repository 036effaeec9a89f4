import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { openConnection } from '../../../../src/store/sqlite/database/connection.ts'
import { GroupCommit } from '../../../../src/store/sqlite/database/group-commit.ts'
import { openDatabase } from '../../../../src/store/sqlite/database/open-database.ts'
import { EventTable } from '../../../../src/store/sqlite/incoming/event-table.ts'
import { incoming } from '../../../support/fixtures.ts'
import { makeDatabase } from '../../../support/ready-database.ts'
import { tempFolder } from '../../../support/temp-folder.ts'

/** Blocks and segments of few rows, so that a short test fills many. */
const ROW_COUNTS = { blockRows: 2, segmentRows: 1 }

/** The events as one process sees them. */
function openProcess(file: string) {
  makeDatabase(file)
  const db = openDatabase(file)
  // No machine fails in these tests, so no commit has to wait for the disk.
  db.pragma('synchronous = OFF')
  const events = new EventTable(openConnection(db), ROW_COUNTS)
  const commit = new GroupCommit(db, [events.known])
  return {
    db,
    save: (id: string) => commit.write(async () => (await events.save(incoming(id))).kind),
    /** Saves events in one transaction and looks for each, which then fails. */
    saveInVain: (ids: string[]) =>
      commit
        .write(async () => {
          for (const id of ids) {
            await events.save(incoming(id))
            expect(await events.findSeqs(id, 'default')).toHaveLength(1)
          }
          throw new Error('in vain')
        })
        .catch(() => {}),
    groups: () => db.prepare('SELECT number, seq FROM event_filter ORDER BY number').raw().all(),
    find: (id: string) => events.findSeqs(id, 'default'),
    close: () => void db.close(),
  }
}

/** Enough for filters of several groups. */
const IDS = 100
const id = fc.integer({ min: 1, max: IDS }).map((number) => `evt_${number}`)
const process = fc.constantFrom(0, 1)
const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('save' as const), process, id }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('vain' as const), process, ids: fc.array(id, { maxLength: 12 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('find' as const), process, id }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), process }) },
)

test('an event is new once, whatever processes, restarts, blocks and failed commits come between', async () => {
  const folder = tempFolder()
  let round = 0
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 20, maxLength: 150 }), async (actions) => {
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
        } else if (step.kind === 'find') {
          expect(await at.find(step.id)).toHaveLength(model.has(step.id) ? 1 : 0)
        } else {
          at.close()
          processes[step.process] = openProcess(file)
        }
      }
      for (let number = 1; number <= IDS; number++) {
        const count = model.has(`evt_${number}`) ? 1 : 0
        for (const each of processes) expect(await each.find(`evt_${number}`)).toHaveLength(count)
      }
      for (const each of processes) each.close()
    }),
    { numRuns: 40 },
  )
}, 60_000)

test('the filters of full blocks are saved, and built again from events where a row is missing or behind', async () => {
  const file = join(tempFolder(), 'events.db')
  const first = openProcess(file)
  for (let n = 1; n <= 70; n++) await first.save(`evt_${n}`)
  expect(first.groups()).toEqual([
    [0, 63],
    [1, 69],
  ])
  first.close()
  for (const damage of [
    'DELETE FROM event_filter WHERE number = 0',
    'UPDATE event_filter SET seq = 67 WHERE number = 1',
  ]) {
    const next = openProcess(file)
    next.db.exec(damage)
    for (let n = 1; n <= 70; n++) expect(await next.save(`evt_${n}`)).toBe('known')
    next.close()
  }
  const last = openProcess(file)
  onTestFinished(() => last.close())
  expect(await last.save('evt_71')).toBe('new')
})
