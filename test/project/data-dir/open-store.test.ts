import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sqliteOptions } from '../../../src/project/data-dir/open-store.ts'
import { tempFolder } from '../../support/temp-folder.ts'

test('a data folder is made with those above it, for its owner alone', () => {
  const dataDir = join(tempFolder(), 'srv', 'data')
  sqliteOptions({ dataDir, secretKey: null })
  expect(statSync(dataDir).mode & 0o777).toBe(0o700)
})

test.skipIf(process.platform !== 'linux')('a data folder where nobody makes one is refused by name', () => {
  const module = new URL('../../../src/project/data-dir/open-store.ts', import.meta.url)
  const code = `import(${JSON.stringify(module.href)}).then(({ sqliteOptions }) =>
    sqliteOptions({ dataDir: '/proc/upshot/data', secretKey: null })).catch(({ message }) => console.log(message))`
  const { stdout } = spawnSync(process.execPath, ['-e', code], {
    timeout: 30_000,
    killSignal: 'SIGKILL',
    encoding: 'utf8',
  })
  expect(stdout).toContain('The data folder /proc/upshot/data cannot be made (ENOENT). Set UPSHOT_DATA_DIR')
})

test('no key is made for a database whose key is missing', () => {
  const place = { dataDir: tempFolder(), secretKey: null }
  const { file, vaultKey } = sqliteOptions(place)
  const key = join(place.dataDir, 'secret.key')
  writeFileSync(file, '')
  rmSync(key)
  expect(() => sqliteOptions(place)).toThrow(`The key of this database is missing: there is no ${key}.`)
  expect(existsSync(key)).toBe(false)
  expect(sqliteOptions({ ...place, secretKey: vaultKey.toString('base64') }).vaultKey).toEqual(vaultKey)
})
