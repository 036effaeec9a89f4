import { expect, test } from 'vitest'
import { openSandboxCommand } from '../../support/sandbox-command.ts'

test('sandbox transfer transfers files and folders, and exits with 7 and the file name on failure', async () => {
  const { sandbox, run, json } = await openSandboxCommand()
  await sandbox.storage('storage_a').put('/in/a.txt', '0123456789')
  await sandbox.storage('storage_a').put('/in/b.txt', '0123456789')
  const done = await run('transfer', 'start', 'storage_a:/in', 'storage_b:/archive/')
  expect(done).toMatchObject({ exit: 0, stdout: expect.stringMatching(/completed\n2 of 2 files, 20 B of 20 B\n$/) })
  const failed = await run('transfer', 'start', 'storage_a:/in', 'storage_c:/', '--fail-at', '0.75')
  expect(failed).toMatchObject({ exit: 7, stdout: expect.stringContaining('It was at /in/b.txt.') })
  const kept = await json('transfer', 'start', 'storage_a:/in', 'storage_b:/archive/', '--existing', 'keep')
  expect(kept.data).toMatchObject({ status: 'completed', filesKept: 2 })
  expect((await json('transfer', 'list', '--limit', '2')).data).toMatchObject([{ filesKept: 2 }, { status: 'failed' }])
  expect((await run('transfer', 'start', 'storage_a:/none', 'storage_b:/')).exit).toBe(5)

  await sandbox.storage('storage_a').put('/big.bin', Buffer.alloc(40_000_000))
  const { id } = await sandbox.transfers.start({ from: ['storage_a', '/big.bin'], to: ['storage_b', '/'] })
  expect((await json('transfer', 'cancel', id.slice(0, 17), '--dry-run')).data).toMatchObject({ done: false })
  await sandbox.transfers.cancel(id).catch(() => null)
  expect((await run('transfer', 'cancel', id.slice(0, 17))).exit).toBe(1)
  const begun = await json('transfer', 'start', 'storage_a:/in/a.txt', 'storage_b:/', '--detach')
  expect(begun.data).toMatchObject({ status: 'queued' })
})
