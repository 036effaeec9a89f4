import type { SandboxOptions } from '../../../src/sandbox/index.ts'
import { call } from './call.ts'
import { openSandbox } from './open-sandbox.ts'

/** A sandbox with two files and a folder, and an admin key. */
export async function openAccount(options: Partial<SandboxOptions> = {}) {
  const sandbox = await openSandbox(options)
  const { key } = await sandbox.keys.create({ name: 'admin', scope: 'admin' })
  await sandbox.storage('storage_a').put('/folder/report.pdf', 'a report')
  await sandbox.storage('storage_a').put('/empty.txt', '')
  const { id = '' } =
    sandbox
      .storage('storage_a')
      .list()
      .find(({ name }) => name === 'report.pdf') ?? {}
  const ask = (path: string, init: RequestInit = {}) => call(sandbox, path, { key, ...init })
  return { sandbox, key, id, ask, on: `/files/${id}` }
}
