import { expect, onTestFinished, test, vi } from 'vitest'
import { commandClock } from '../../../../src/cli/command-clock.ts'
import { checkSweeps } from '../../../../src/cli/commands/doctor/check-safety.ts'
import { SweepWorld } from '../../../schedule/sweep/support/sweep-world.ts'
import { openDataDir } from '../../../support/open-data-dir.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { testConfig } from '../../../support/test-config.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

function openWorld(plan: Partial<SweepWorld['plan']> = {}) {
  const dataDir = tempFolder()
  const store = openDataDir({ dataDir, secretKey: null })
  onTestFinished(() => store.close())
  const world = new SweepWorld(store, plan)
  vi.spyOn(commandClock, 'now').mockImplementation(() => world.clock.now())
  onTestFinished(() => void vi.restoreAllMocks())
  return {
    world,
    examine: () => checkSweeps(store, testConfig(dataDir, { reconcile: [world.plan] })),
    silent: () => checkSweeps(store, testConfig(dataDir)),
  }
}

test('doctor says that sweeps are complete, and nothing where no storage is compared with events', async () => {
  const { world, examine, silent } = openWorld()
  expect(await examine()).toMatchObject([{ level: 'warn', found: 'storage_a was never swept' }])
  for (let n = 0; n < 20; n++) world.add()
  await world.run(HOUR)
  expect(await examine()).toMatchObject([
    { check: 'sweeps', level: 'ok', found: expect.stringMatching(/^storage_a: complete .*, none lost in 7 days$/) },
  ])
  expect(await silent()).toEqual([])
})

test('doctor warns of a sweep that is late, of lost events, and of those that wait for people', async () => {
  const { world, examine } = openWorld({ repair: 'events' })
  for (let n = 0; n < 40; n++) world.add()
  await world.run(HOUR)
  world.clock.advance(4 * HOUR)
  expect(await examine()).toMatchObject([{ level: 'warn', fix: expect.stringContaining('It is late') }])
  world.add()
  await world.run(7 * HOUR)
  const made = 'storage_a: complete .*, 1 lost in 7 days \\(1 made up\\)$'
  expect(await examine()).toMatchObject([{ level: 'warn', found: expect.stringMatching(made) }])
  for (let n = 0; n < 3; n++) world.add()
  await world.run(7 * HOUR)
  const held = '4 lost in 7 days \\(1 made up\\), 3 wait for approval$'
  expect(await examine()).toMatchObject([
    { level: 'warn', found: expect.stringMatching(held), fix: expect.stringContaining('upshot approvals list') },
  ])
  world.clock.advance(8 * DAY)
  expect(await examine()).toMatchObject([{ found: expect.stringContaining('none lost in 7 days, 3 wait') }])
})

test('doctor names the types whose events cannot be missed, because no definition tells their file', async () => {
  const { world, examine } = openWorld()
  world.functions.delete('file.deleted')
  world.add()
  await world.run(HOUR)
  expect((await examine()).at(-1)).toMatchObject({ level: 'warn', found: expect.stringContaining('file.deleted') })
})
