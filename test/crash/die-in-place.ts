import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Store } from '../../src/core/store/store.ts'
import { migratePostgres } from '../../src/store/postgres/open-postgres-store.ts'
import { type DatabaseName, inDatabase } from '../support/databases.ts'
import { inStore } from '../support/open-place.ts'
import { makeDatabase } from '../support/postgres-store.ts'
import { onAnswer } from './doom.ts'

interface Death<Given> {
  prepare: (store: Store) => Promise<Given>
  act: (store: Store, given: Given) => Promise<void>
  /** Program that acts in a process of its own, given the place, what `prepare` gave and a call. */
  child: string
}

/**
 * Looks at what a process leaves that dies at the answer of its n-th store call. True where it
 * lived on. On PostgreSQL, each process is killed. `prepare` works once, and each death has a copy.
 */
export function dieInPlace<Given>(
  database: DatabaseName,
  death: Death<Given>,
  checkRest: (store: Store, given: Given) => Promise<void>,
): (call: number) => Promise<boolean> {
  return database === 'SQLite' ? dieInCopies(death, checkRest) : dieOnServer(death, checkRest)
}

function dieOnServer<Given>(
  { child, prepare }: Death<Given>,
  checkRest: (store: Store, given: Given) => Promise<void>,
): (call: number) => Promise<boolean> {
  const prepareOne = async () => {
    const place = await makeDatabase()
    const hosts = [{ connectionString: place.url }]
    await migratePostgres({ hosts, schema: place.schema, vaultKey: Buffer.alloc(32) })
    return { place, given: await inStore(place, prepare) }
  }
  const prepared = prepareOne()
  return async (call) => {
    const { place: template, given } = await prepared
    const place = await makeDatabase(template)
    const arguments_ = [JSON.stringify(place), JSON.stringify(given ?? null), String(call)]
    const [code] = await once(fork(child, arguments_, { execArgv: [] }), 'exit')
    await inStore(place, (store) => checkRest(store, given))
    return code === 0
  }
}

const FILES = ['', '-wal']

/**
 * Acts once, and copies the database at each answer. A process that is killed there leaves the same
 * files, because its only thread has no commit under way.
 */
function dieInCopies<Given>(
  { prepare, act }: Death<Given>,
  checkRest: (store: Store, given: Given) => Promise<void>,
): (call: number) => Promise<boolean> {
  const acted = inFile(async (file) => {
    const copies: Buffer[][] = []
    const copy = () => {
      copies.push(FILES.map((end) => (existsSync(file + end) ? readFileSync(file + end) : Buffer.alloc(0))))
    }
    const given = await inStore({ file }, prepare)
    await inStore({ file }, (store) => act(onAnswer(store, copy), given))
    return { given, copies }
  })
  return async (call) => {
    const { given, copies } = await acted
    const left = copies[call - 1]
    if (left === undefined) return true
    await inFile((file) => {
      for (const [index, end] of FILES.entries()) writeFileSync(file + end, left[index] ?? '')
      return inStore({ file }, (store) => checkRest(store, given))
    })
    return false
  }
}

function inFile<T>(use: (file: string) => Promise<T>): Promise<T> {
  return inDatabase('SQLite', (place) => use('file' in place ? place.file : ''))
}
