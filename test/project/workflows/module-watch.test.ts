import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ManualClock, systemClock } from '../../../src/core/time.ts'
import { hashFolder, ModuleWatch } from '../../../src/project/workflows/module-watch.ts'
import { moduleOf, openFolder } from '../support/workflows-folder.ts'

/** Fails the test that throws to it. */
const onFault = (error: unknown) => {
  throw error
}

test('a module watch notices changed content, not a file that is written again unchanged', async () => {
  const { folder, write } = await openFolder({ 'a.workflow.ts': moduleOf('a', '1'), 'notes.txt': 'x' })
  const versions: string[] = []
  const clock = new ManualClock()
  const watch = new ModuleWatch({ folder, clock, onChange: async (version) => void versions.push(version), onFault })
  onTestFinished(() => watch.stop())
  await watch.start()
  write('a.workflow.ts', moduleOf('a', '1'))
  write('notes.txt', 'y')
  await watch.check()
  expect(versions).toEqual([])
  write('a.workflow.ts', moduleOf('a', '2'))
  await watch.check()
  write('new.ts', 'export {}')
  await watch.check()
  rmSync(join(folder, 'new.ts'))
  await watch.check()
  expect(new Set(versions).size).toBe(2)
  expect(versions).toHaveLength(3)
  expect(versions[2]).toBe(versions[0])
})

test('a module watch notices a change without being asked', async () => {
  const { folder, write } = await openFolder({ 'a.workflow.ts': moduleOf('a', '1') })
  const changed = Promise.withResolvers<void>()
  const watch = new ModuleWatch({ folder, clock: systemClock, onChange: async () => changed.resolve(), onFault })
  onTestFinished(() => watch.stop())
  await watch.start()
  write('a.workflow.ts', moduleOf('a', '2'))
  await changed.promise
})

test('a module watch notices a file that was saved while the modules were loaded', async () => {
  const { folder, write } = await openFolder({ 'a.workflow.ts': moduleOf('a', '1') })
  const before = await hashFolder(folder)
  write('a.workflow.ts', moduleOf('a', '2'))
  const versions: string[] = []
  const onChange = async (version: string) => void versions.push(version)
  const watch = new ModuleWatch({ folder, clock: new ManualClock(), onChange, onFault, before })
  onTestFinished(() => watch.stop())
  await watch.start()
  await watch.check()
  expect(versions).toHaveLength(1)
  const same = new ModuleWatch({
    folder,
    clock: new ManualClock(),
    onChange,
    onFault,
    before: await hashFolder(folder),
  })
  onTestFinished(() => same.stop())
  await same.start()
  await same.check()
  expect(versions).toHaveLength(1)
})

test('a change that could not be taken over is told again by the next check', async () => {
  const { folder, write } = await openFolder({ 'a.workflow.ts': moduleOf('a', '1') })
  const told: string[] = []
  const onChange = async (version: string) => {
    told.push(version)
    if (told.length === 1) throw new Error('the store is not to be had')
  }
  const faults: unknown[] = []
  const watch = new ModuleWatch({ folder, clock: new ManualClock(), onChange, onFault: (error) => faults.push(error) })
  onTestFinished(() => watch.stop())
  await watch.start()
  write('a.workflow.ts', moduleOf('a', '2'))
  for (let check = 0; check < 3; check++) await watch.check()
  expect(told).toEqual([told[0], told[0]])
  expect(faults).toEqual([expect.objectContaining({ message: 'the store is not to be had' })])
})

test('the pause between two polls grows with the time that one takes', async () => {
  const { folder } = await openFolder({ 'a.workflow.ts': moduleOf('a', '1') })
  const pauseAfter = async (takesMs: number) => {
    const clock = new ManualClock()
    let now = 0
    const spy = vi.spyOn(performance, 'now').mockImplementation(() => (now += takesMs))
    const watch = new ModuleWatch({ folder, clock, onChange: async () => {}, onFault })
    onTestFinished(() => watch.stop())
    await watch.start()
    spy.mockRestore()
    return (clock.nextAt() ?? 0) - clock.now()
  }
  expect(await pauseAfter(1)).toBe(1_000)
  expect(await pauseAfter(100)).toBe(2_000)
  expect(await pauseAfter(5_000)).toBe(10_000)
})
