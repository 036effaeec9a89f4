import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test as base, onTestFinished } from 'vitest'
import type { Store } from '../../src/core/store/store.ts'
import { openSqliteStore, type SqliteStoreOptions } from '../../src/store/sqlite/open-sqlite-store.ts'
import { makeDatabase } from './ready-database.ts'
import { tempFolder } from './temp-folder.ts'

/** The key of every test store, so that one opens the database of another. */
export const testVaultKey = randomBytes(32)

/** Opens a real store that is closed after the test; `folder` opens the database of another. */
export function openTestStore<Opened extends Store = Store>(
  folder = tempFolder(),
  open: (options: SqliteStoreOptions) => Opened = openSqliteStore as never,
): Opened & { folder: string } {
  const file = join(folder, 'upshot.db')
  makeDatabase(file)
  // A command that a test runs in the folder finds it there.
  writeFileSync(join(folder, 'secret.key'), testVaultKey.toString('base64'), { mode: 0o600 })
  const store = open({ file, vaultKey: testVaultKey })
  onTestFinished(() => store.close())
  return { ...store, folder }
}

/** A test names the store that it uses. */
export const test = base.extend('store', () => openTestStore())
