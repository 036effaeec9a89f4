import type { Sandbox } from '../../src/sandbox/index.ts'

type StorageName = Parameters<Sandbox['storage']>[0]

/** The paths of the files and folders that a storage of the sandbox has. */
export function pathsIn(sandbox: Sandbox, storage: StorageName = 'storage_a'): string[] {
  const entries = sandbox.storage(storage).list()
  return entries.map(({ path }) => path)
}
