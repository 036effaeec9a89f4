import { randomBytes } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createVault, loadVaultKey, parseVaultKey } from '../../src/store/vault.ts'
import { tempFolder } from '../support/temp-folder.ts'

test('a sealed secret opens for the same owner and key only', () => {
  const key = randomBytes(32)
  const sealed = createVault(key).seal('end_1', 'a secret')
  expect(createVault(key).open('end_1', sealed)).toBe('a secret')
  expect(() => createVault(key).open('end_2', sealed)).toThrow(/does not open with this key/)
  expect(() => createVault(randomBytes(32)).open('end_1', sealed)).toThrow(/does not open with this key/)
  expect(sealed.includes('a secret')).toBe(false)
})

test('the vault seals the same secret differently each time', () => {
  const vault = createVault(randomBytes(32))
  expect(vault.seal('end_1', 'a secret')).not.toEqual(vault.seal('end_1', 'a secret'))
})

test('the key file is created once, readable by its owner only', () => {
  const file = join(tempFolder(), 'secret.key')
  const key = loadVaultKey(file)
  expect(loadVaultKey(file)).toEqual(key)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(Buffer.from(readFileSync(file, 'utf8'), 'base64')).toEqual(key)
})

test('a vault key is hex or base64, and another length is refused by the name of its source', () => {
  const key = randomBytes(32)
  expect(parseVaultKey(key.toString('hex'), 'UPSHOT_SECRET_KEY')).toEqual(key)
  expect(parseVaultKey(`${key.toString('base64')}\n`, 'UPSHOT_SECRET_KEY')).toEqual(key)
  expect(() => parseVaultKey('short', 'UPSHOT_SECRET_KEY')).toThrow(/UPSHOT_SECRET_KEY must be 32 bytes/)
})

test('a key file that cannot be read is named', () => {
  const folder = tempFolder()
  const message = `The key file ${folder} cannot be read (EISDIR).`
  expect(() => loadVaultKey(folder)).toThrow(expect.objectContaining({ code: 'invalid_config', message }))
})
