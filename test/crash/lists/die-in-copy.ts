import { fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '../../../src/core/store/store.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'

/**
 * Kills a process at its n-th store call, on a copy of the data below `asked`. Looks at what is
 * left; true where the process lived on.
 */
export async function dieInCopy(
  folder: string,
  { child, given, call }: { child: string; given: unknown; call: number },
  checkRest: (store: Store) => Promise<void>,
): Promise<boolean> {
  const dataDir = join(folder, `died-${call}`)
  cpSync(join(folder, 'asked'), dataDir, { recursive: true })
  const killed = fork(child, [dataDir, JSON.stringify(given), 'answered', String(call)], { execArgv: [] })
  const [code] = await once(killed, 'exit')
  await inStore(dataDir, checkRest)
  rmSync(dataDir, { recursive: true, force: true })
  return code === 0
}

/** Opens the store of a data directory for a while. */
export async function inStore(dataDir: string, act: (store: Store) => Promise<void>): Promise<void> {
  const store = openSqliteStore({ file: join(dataDir, 'upshot.db'), vaultKey: Buffer.alloc(32) })
  await act(store)
  await store.close()
}
