import { expect, test } from 'vitest'
import { openSandboxCommand } from '../../support/sandbox-command.ts'

test('sandbox audit lists the mistakes of clients, and exits with 7', async () => {
  const { sandbox, run, json } = await openSandboxCommand()
  const { key } = await sandbox.keys.create({ name: 'client' })
  expect((await run('audit')).exit).toBe(0)
  await fetch(`${sandbox.url}/files?service=storage_a&limit=500`, { headers: { authorization: `Bearer ${key}` } })
  expect(await run('audit')).toMatchObject({ exit: 7, stdout: expect.stringContaining('limit_over_100') })
  expect((await json('audit', '--requests')).data).toMatchObject([{ operation: 'files.list', status: 400 }])
})

test('snapshots are restored, and the sandbox is reset, only after a confirmation', async () => {
  const { sandbox, run, json } = await openSandboxCommand()
  await sandbox.storage('storage_a').put('/then.txt', 'then')
  expect((await json('snapshot', 'save', 'then')).data).toEqual({ name: 'then', saved: true, replaced: false })
  await sandbox.storage('storage_a').put('/now.txt', 'now')
  expect((await run('snapshot', 'save', 'then')).exit).toBe(3)
  expect((await json('snapshot', 'list')).data).toEqual(['then'])
  expect((await run('snapshot', 'load', 'then')).exit).toBe(3)
  expect((await run('snapshot', 'load', 'never', '--yes')).exit).toBe(5)
  expect(sandbox.storage('storage_a').list()).toHaveLength(2)
  await json('snapshot', 'load', 'then', '--yes')
  expect(sandbox.storage('storage_a').list()).toHaveLength(1)

  await sandbox.keys.create({ name: 'of a client' })
  const asked = await run('reset')
  expect(asked).toMatchObject({ exit: 3, stderr: expect.stringContaining('storage_a: 1 files (4 B)') })
  expect((await json('reset', '--yes', '--keep-access')).data).toEqual({ reset: true, keptAccess: true })
  expect(sandbox.keys.list()).toHaveLength(1)
  await json('reset', '--yes')
  expect([sandbox.keys.list(), sandbox.storage('storage_a').list()]).toEqual([[], []])
})
