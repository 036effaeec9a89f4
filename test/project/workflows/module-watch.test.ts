import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ManualClock, systemClock } from '../../../src/core/time.ts'
import { hashFolder, ModuleWatch } from '../../../src/project/workflows/module-watch.ts'
import { moduleOf, openFolder } from '../support/workflows-folder.ts'

test('a module watch notices changed content, not a file that is written again unchanged', async () => {
  const { folder, write } = await openFolder({ 'a.workflow.ts': moduleOf('a', '1'), 'notes.txt': 'x' })
  const versions: string[] = []
  const clock = new ManualClock()
  const watch = new ModuleWatch({ folder, clock, onChange: async (version) => void versions.push(version) })
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
  const watch = new ModuleWatch({ folder, clock: systemClock, onChange: async () => changed.resolve() })
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
  const watch = new ModuleWatch({ folder, clock: new ManualClock(), onChange, before })
  onTestFinished(() => watch.stop())
  await watch.start()
  await watch.check()
  expect(versions).toHaveLength(1)
  const same = new ModuleWatch({ folder, clock: new ManualClock(), onChange, before: await hashFolder(folder) })
  onTestFinished(() => same.stop())
  await same.start()
  await same.check()
  expect(versions).toHaveLength(1)
})
