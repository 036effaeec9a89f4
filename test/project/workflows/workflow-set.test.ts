import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { moduleOf, openFolder } from '../support/workflows-folder.ts'

test('a set keeps the former version of a module that breaks, and takes the repaired one', async () => {
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
  const reason = expect.stringMatching(/\. Mend the module\. Until then its former version stays at work\.$/)
  expect(set.broken).toEqual([{ file: 'a.workflow.ts', reason }])
  write('a.workflow.ts', moduleOf('a', '3', `cron('61 * * * *')`))
  await reload()
  expect(runOf('a')).toBe(1)
  write('a.workflow.ts', moduleOf('a', '4'))
  await reload()
  expect(runOf('a')).toBe(4)
  expect(set.describe().broken).toEqual([])
  expect(set.broken).toEqual([])
})

test('a set drops deleted modules, takes renamed ones, and keeps the former one of two with one id', async () => {
  const { folder, write, heard, set, runOf, reload } = await openFolder({
    'a.workflow.ts': moduleOf('a', '1'),
    'b.workflow.ts': moduleOf('b', '1'),
  })
  rmSync(join(folder, 'a.workflow.ts'))
  write('renamed.workflow.ts', moduleOf('a', '2'))
  await reload()
  expect(runOf('a')).toBe(2)
  write('twice.workflow.ts', moduleOf('b', '3'))
  heard.length = 0
  expect(await reload()).toBe(true)
  expect(runOf('b')).toBe(1)
  const message = expect.stringContaining('both define the workflow "b"')
  expect(heard).toMatchObject([
    { kind: 'workflow.broken', file: 'b.workflow.ts', error: { message }, kept: true },
    { kind: 'workflow.broken', file: 'twice.workflow.ts', error: { message } },
    { kind: 'workflows.reloaded', workflows: 2, broken: 2 },
  ])
  rmSync(join(folder, 'twice.workflow.ts'))
  rmSync(join(folder, 'b.workflow.ts'))
  await reload()
  expect(set.find('b')).toBeUndefined()
  expect(set.describe().workflows.map(({ id }) => id)).toEqual(['a'])
})
