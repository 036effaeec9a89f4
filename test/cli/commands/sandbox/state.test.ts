import { expect, test } from 'vitest'
import { openSandboxCommand } from '../../support/sandbox-command.ts'

test('sandbox keys are created with any scope, listed without their values, and revoked', async () => {
  const { sandbox, run, json } = await openSandboxCommand()
  const made = (await json('key', 'new', 'a client', '--scope', 'read-only')).data
  expect(sandbox.keys.list()).toMatchObject([{ name: 'a client', scope: 'read-only', key: made.key }])
  await json('key', 'new', 'custom', '--permission', 'files:read', '--storage', 'storage_b')
  const text = await run('key', 'list')
  expect(text.stdout).toMatch(/a client +read-only/)
  expect(text.stdout).toContain('files:read on storage_b')
  expect(JSON.stringify((await json('key', 'list')).data) + text.stdout).not.toContain(made.key)
  expect(await run('key', 'revoke', made.id)).toMatchObject({ exit: 3 })
  expect(sandbox.keys.get(made.id).revokedAt).toBeNull()
  expect((await json('key', 'revoke', made.id.slice(0, 17), '--yes')).data).toMatchObject({ revoked: true })
  expect(sandbox.keys.get(made.id).revokedAt).not.toBeNull()
  expect((await run('key', 'revoke', 'key_none', '--yes')).exit).toBe(5)
  expect((await run('key', 'new', 'x', '--scope', 'admin', '--permission', 'files:read')).exit).toBe(2)
})

test('the sandbox clock is advanced and set back to real time', async () => {
  const { sandbox, run, json } = await openSandboxCommand()
  const before = sandbox.clock.now()
  expect((await json('clock', 'advance', '2h')).data).toMatchObject({ mode: 'manual' })
  expect(sandbox.clock.now()).toBe(before + 7_200_000)
  expect((await run('clock', 'show')).stdout).toMatch(/stands still, .* ahead of this machine/)
  expect((await run('clock', 'advance', 'soon')).exit).toBe(2)
  expect((await json('clock', 'real')).data).toMatchObject({ mode: 'real' })
  expect(Math.abs(sandbox.clock.now() - Date.now())).toBeLessThan(60_000)
})

test('sandbox settings are shown and changed', async () => {
  const { sandbox, run, json } = await openSandboxCommand()
  expect((await json('settings', 'plan=pro', 'deleteFolders=true')).data).toMatchObject({ deleteFolders: true })
  expect(sandbox.settings.get()).toMatchObject({ plan: 'pro', deleteFolders: true })
  expect((await run('settings')).stdout).toMatch(/plan +pro/)
  expect((await run('settings', 'plan=gold')).exit).toBe(2)
  expect((await run('settings', 'plan')).exit).toBe(2)
})

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
