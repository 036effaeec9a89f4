import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Notice } from '../../../src/core/notices.ts'
import { ManualClock, systemClock } from '../../../src/core/time.ts'
import { ModuleWatch } from '../../../src/project/workflows/module-watch.ts'
import { WorkflowSet } from '../../../src/project/workflows/workflow-set.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const INDEX = resolve(import.meta.dirname, '../../../src/author/index.ts')
const moduleOf = (id: string, output: string, on = `'*'`) =>
  `import { cron, defineWorkflow } from '${INDEX}'\nvoid cron\nexport default defineWorkflow({ id: '${id}', on: ${on}, run: () => ${output} })`

async function openFolder(files: Record<string, string>) {
  const root = tempFolder()
  const folder = join(root, 'workflows')
  mkdirSync(folder)
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  for (const [name, text] of Object.entries(files)) write(name, text)
  const heard: Notice[] = []
  const set = await WorkflowSet.load(folder, (notice) => void heard.push(notice))
  const runOf = (id: string) => (set.find(id) as { run?: () => unknown } | undefined)?.run?.()
  let versions = 0
  return { root, folder, write, heard, set, runOf, reload: () => set.reload(`v${++versions}-${root.at(-1)}`) }
}

test('keeps the former version of a module that breaks, says so once, and takes the mended one', async () => {
  const { write, heard, set, runOf, reload } = await openFolder({
    'a.workflow.ts': moduleOf('a', '1'),
    'b.workflow.ts': moduleOf('b', '1'),
  })
  write('a.workflow.ts', 'export default (')
  write('b.workflow.ts', moduleOf('b', '2'))
  heard.length = 0
  expect(await reload()).toBe(true)
  expect([runOf('a'), runOf('b')]).toEqual([1, 2])
  expect(heard).toMatchObject([
    { kind: 'workflow.broken', file: 'a.workflow.ts', kept: true },
    { kind: 'workflows.reloaded', workflows: 2, broken: 1 },
  ])
  expect(set.describe()).toMatchObject({ workflows: [{ id: 'b' }, { id: 'a' }], broken: ['a.workflow.ts'] })
  write('a.workflow.ts', moduleOf('a', '3', `cron('61 * * * *')`))
  await reload()
  expect(runOf('a')).toBe(1)
  write('a.workflow.ts', moduleOf('a', '4'))
  await reload()
  expect(runOf('a')).toBe(4)
  expect(set.describe().broken).toEqual([])
})

test('drops a module that is gone, takes a renamed one, and changes nothing where two have one id', async () => {
  const { folder, write, heard, set, runOf, reload } = await openFolder({
    'a.workflow.ts': moduleOf('a', '1'),
    'b.workflow.ts': moduleOf('b', '1'),
  })
  rmSync(join(folder, 'a.workflow.ts'))
  write('renamed.workflow.ts', moduleOf('a', '2'))
  await reload()
  expect(runOf('a')).toBe(2)
  write('twice.workflow.ts', moduleOf('b', '3'))
  expect(await reload()).toBe(false)
  expect(runOf('b')).toBe(1)
  expect(heard.at(-1)).toMatchObject({
    kind: 'workflow.broken',
    error: { message: expect.stringContaining('both define') },
  })
  rmSync(join(folder, 'twice.workflow.ts'))
  rmSync(join(folder, 'b.workflow.ts'))
  await reload()
  expect(set.find('b')).toBeUndefined()
  expect(set.describe().workflows.map(({ id }) => id)).toEqual(['a'])
})

test('is told of a change by its content, not by a file that was only touched', async () => {
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

test('notices a change by itself', async () => {
  const { folder, write } = await openFolder({ 'a.workflow.ts': moduleOf('a', '1') })
  const changed = Promise.withResolvers<void>()
  const watch = new ModuleWatch({ folder, clock: systemClock, onChange: async () => changed.resolve() })
  onTestFinished(() => watch.stop())
  await watch.start()
  write('a.workflow.ts', moduleOf('a', '2'))
  await changed.promise
})
