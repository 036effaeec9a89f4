import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Store } from '../../src/core/store/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts'
import { tempFolder } from './temp-folder.ts'

const vaultKey = randomBytes(32)

/** Opens a real store that is closed after the test; `folder` opens the database of another. */
export function openTestStore(folder = tempFolder(), open = openSqliteStore): Store & { folder: string } {
  const store = open({ file: join(folder, 'upshot.db'), vaultKey })
  onTestFinished(() => store.close())
  return { ...store, folder }
}
