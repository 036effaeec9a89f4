import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '../../../src/project/config/load-config.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const UPSHOT_SECRET_KEY = Buffer.alloc(32).toString('base64')

async function load(url: string, more: Record<string, string> = {}) {
  const environment = { UPSHOT_DATABASE_URL: url, UPSHOT_SECRET_KEY, ...more }
  return (await loadConfig(environment, tempFolder())).database
}

test('without an address the database is a file', async () => {
  expect((await loadConfig({}, tempFolder())).database).toBeNull()
})

test('an address names login, database, schema, and every host with its port', async () => {
  const url = 'postgres://app:p%40ss%3A1@one.example,two.example:6432,[2001:db8::1]:6433/up%20shot?schema=main'
  const account = { database: 'up shot', user: 'app', password: 'p@ss:1', tls: {} }
  expect(await load(url)).toEqual({
    hosts: [
      { host: 'one.example', port: 5432, ...account },
      { host: 'two.example', port: 6432, ...account },
      { host: '2001:db8::1', port: 6433, ...account },
    ],
    directHosts: null,
    readHosts: null,
    schema: 'main',
    connections: 10,
  })
})

test('the connection is encrypted and verified unless the address says otherwise', async () => {
  const ca = join(tempFolder(), 'ca.pem')
  writeFileSync(ca, 'a certificate')
  const tlsOf = async (url: string) => (await load(url))?.hosts[0]?.tls
  expect(await tlsOf('postgres://app@db.example/upshot')).toEqual({})
  expect(await tlsOf(`postgres://app@db.example/upshot?sslrootcert=${ca}`)).toEqual({ ca: 'a certificate' })
  expect(await tlsOf('postgres://app@db.example/upshot?sslmode=disable')).toBeNull()
  expect(await tlsOf('postgres://app@127.0.0.1/upshot')).toBeNull()
  expect(await tlsOf('postgres://app@[::1]/upshot')).toBeNull()
  expect(await tlsOf('postgres://app@127.0.0.1/upshot?sslmode=verify-full')).toEqual({})
})

test('the session that listens may have an address of its own', async () => {
  const UPSHOT_DATABASE_DIRECT_URL = 'postgres://app@db.example:5432/upshot'
  const database = await load('postgres://app@pooler.example:6432/upshot', { UPSHOT_DATABASE_DIRECT_URL })
  expect(database?.directHosts).toMatchObject([{ host: 'db.example', port: 5432 }])
})

test('a standby that answers lists has an address of its own, with the schema of the database', async () => {
  const UPSHOT_DATABASE_READ_URL = 'postgres://reports:geheim@db-3.example/upshot'
  const database = await load('postgres://app@db.example/upshot?schema=main', { UPSHOT_DATABASE_READ_URL })
  expect(database?.readHosts).toMatchObject([{ host: 'db-3.example', user: 'reports' }])
  expect(database?.schema).toBe('main')
  const other = { UPSHOT_DATABASE_READ_URL: `${UPSHOT_DATABASE_READ_URL}?schema=other` }
  const error = await load('postgres://app@db.example/upshot', other).catch((thrown: unknown) => thrown)
  expect(String(error)).toContain('UPSHOT_DATABASE_READ_URL names another schema')
  expect(String(error)).not.toContain('geheim')
})

test.each(['UPSHOT_DATABASE_READ_URL', 'UPSHOT_DATABASE_DIRECT_URL'])(
  '%s needs the address of the database beside it',
  async (name) => {
    const alone = loadConfig({ [name]: 'postgres://app@db.example/upshot' }, tempFolder())
    await expect(alone).rejects.toThrow(`${name} needs UPSHOT_DATABASE_URL beside it.`)
    await expect(load('postgres://app@db/upshot', { [name]: 'mysql://app@db/upshot' })).rejects.toThrow(
      `${name} begins with mysql://`,
    )
  },
)

test.each([
  ['mysql://app:geheim@db/upshot', 'begins with mysql://, and only PostgreSQL is supported'],
  ['postgres://app:geheim@db', 'names no database'],
  ['postgres://db/upshot', 'names no user'],
  ['postgres://app:geheim@/upshot', 'names no host'],
  ['postgres://app:geheim@db:99999/upshot', 'names no host'],
  ['postgres://app:gehe%im@db/upshot', 'write a "%"'],
  ['app:geheim@db/upshot', 'is not valid'],
  ['postgres://app:geheim@db/upshot?sslmode=require', 'does not prove that the server is yours'],
  ['postgres://app:geheim@db/upshot?sslrootcert=/nowhere.pem', 'names /nowhere.pem as sslrootcert'],
  ['postgres://app:geheim@db/upshot?password=geheim', 'has the parameter "password", which is not supported'],
])('%s is refused, and the message holds no password', async (url, message) => {
  const error = await load(url).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'invalid_config', message: expect.stringContaining(message) })
  expect(String(error)).not.toMatch(/geheim|gehe%im/)
})

test('a project in PostgreSQL needs a key that all its processes have', async () => {
  await expect(load('postgres://app@db/upshot', { UPSHOT_SECRET_KEY: '' })).rejects.toThrow('UPSHOT_SECRET_KEY')
})

test('the number of connections has a least', async () => {
  await expect(load('postgres://app@db/upshot', { UPSHOT_DATABASE_CONNECTIONS: '3' })).rejects.toThrow('from 4 to 999')
})
