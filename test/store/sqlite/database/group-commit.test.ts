import { copyFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { UpshotError } from '../../../../src/core/errors.ts'
import type { Connection } from '../../../../src/store/connection.ts'
import { openConnection } from '../../../../src/store/sqlite/database/connection.ts'
import { GroupCommit } from '../../../../src/store/sqlite/database/group-commit.ts'
import { translateFault } from '../../../../src/store/sqlite/database/storage-fault.ts'
import { tempFolder } from '../../../support/temp-folder.ts'

function openCounter() {
  const db = new Database(':memory:')
  db.exec('CREATE TABLE entry (text TEXT UNIQUE)')
  const commits: string[] = []
  const counting = new Proxy(db, {
    get(target, name) {
      if (name !== 'prepare') return Reflect.get(target, name)
      return (sql: string) => {
        const statement = target.prepare(sql)
        const run = () => {
          commits.push(sql)
          statement.run()
        }
        return { run }
      }
    },
  })
  const insert = db.prepare('INSERT INTO entry (text) VALUES (?)')
  const texts = () => db.prepare('SELECT text FROM entry ORDER BY rowid').pluck().all()
  return { commit: new GroupCommit(counting), connection: openConnection(db), insert, texts, commits }
}

test('the writes of one turn share a commit', async () => {
  const { commit, insert, commits } = openCounter()
  await Promise.all(Array.from({ length: 20 }, (_, n) => commit.write(() => insert.run(`${n}`))))
  expect(commits).toEqual(['BEGIN IMMEDIATE', 'COMMIT'])
})

test('a write is answered only after its commit', async () => {
  const { commit, insert, commits } = openCounter()
  const answered = commit.write(() => insert.run('a')).then(() => commits.includes('COMMIT'))
  expect(await answered).toBe(true)
})

test('a failing write of a group fails alone, and the others keep their order', async () => {
  const { commit, insert, texts } = openCounter()
  const results = await Promise.allSettled(['a', 'b', 'a', 'c'].map((text) => commit.write(() => insert.run(text))))
  expect(results.map((result) => result.status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(texts()).toEqual(['a', 'b', 'c'])
})

test('a write that came too late is refused after the one commit of its group', async () => {
  const { commit, insert, texts, commits } = openCounter()
  const late = async () => {
    throw new UpshotError('stale_lease', 'too late')
  }
  const results = await Promise.allSettled([insertIn('a'), late, insertIn('b')].map((write) => commit.write(write)))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(texts()).toEqual(['a', 'b'])
  expect(commits).toEqual(['BEGIN IMMEDIATE', 'COMMIT'])

  function insertIn(text: string) {
    return async () => {
      insert.run(text)
    }
  }
})

/** A write of three statements, each awaited as the tables do it. */
async function insertThree(connection: Connection, texts: string[]) {
  const insert = connection.prepare('INSERT INTO entry (text) VALUES (?)')
  for (const text of texts) await insert.run(text)
}

test('a write that awaits its statements ends before the next one of its commit begins', async () => {
  const { commit, connection, texts, commits } = openCounter()
  const writes = ['a', 'b'].map((text) =>
    commit.write(() =>
      insertThree(
        connection,
        [1, 2, 3].map((n) => text + n),
      ),
    ),
  )
  await Promise.all(writes)
  expect(commits).toEqual(['BEGIN IMMEDIATE', 'COMMIT'])
  expect(texts()).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3'])
})

test('a write that is first stands behind few others, and a stream of such writes holds none up', async () => {
  const { commit, insert, texts, commits } = openCounter()
  const numbers = Array.from({ length: 200 }, (_, n) => `${n}`)
  let isOver = false
  const others = Promise.all(numbers.map((text) => commit.write(() => insert.run(text)))).then(() => {
    isOver = true
  })
  let firsts = 0
  while (!isOver) await commit.write(() => insert.run(`first ${firsts++}`), true)
  await others
  expect(texts()[0]).toBe('first 0')
  expect(texts().filter((text) => !`${text}`.startsWith('first'))).toEqual(numbers)
  // Each commit took one that was first, and a share of the others.
  expect(firsts).toBeGreaterThan(1)
  expect(firsts).toBeLessThanOrEqual(numbers.length / 8 + 1)
  expect(commits.filter((sql) => sql === 'COMMIT')).toHaveLength(firsts)
})

test('a write that lets another turn in is refused, and the others of its commit are made', async () => {
  const { commit, connection, texts } = openCounter()
  const slow = commit.write(async () => {
    await insertThree(connection, ['a'])
    await new Promise((resolve) => setImmediate(resolve))
  })
  const sound = commit.write(() => insertThree(connection, ['b']))
  await expect(slow).rejects.toThrow('awaited something other than its database')
  await sound
  expect(texts()).toEqual(['b'])
})

test('a write that fails half-way is undone completely', async () => {
  const { commit, insert, texts } = openCounter()
  const half = commit.write(() => {
    insert.run('a')
    throw new Error('half-way')
  })
  await expect(half).rejects.toThrow('half-way')
  expect(texts()).toEqual([])
})

test('close commits the writes in the queue and refuses later ones', async () => {
  const { commit, insert, texts } = openCounter()
  const waiting = commit.write(() => insert.run('a'))
  await commit.close()
  await waiting
  expect(texts()).toEqual(['a'])
  await expect(commit.write(() => insert.run('b'))).rejects.toMatchObject({ code: 'store_unavailable' })
})

/** A database file, and a second connection as another process has one. */
function openFile() {
  const file = join(tempFolder(), 'some.db')
  const db = new Database(file, { timeout: 20 })
  db.pragma('journal_mode = WAL')
  db.exec('CREATE TABLE entry (text TEXT)')
  onTestFinished(() => void db.close())
  const other = new Database(file)
  onTestFinished(() => void other.close())
  const insert = db.prepare('INSERT INTO entry (text) VALUES (?)')
  const commit = new GroupCommit(db)
  const write = (text = 'x') => commit.write(() => insert.run(text))
  return { file, db, other, write }
}

const refusedAs = (reason: string) => ({ code: 'store_unavailable', details: { reason } })

test('a group that finds the database locked is refused as a whole, and later writes wait no longer', async () => {
  const { db, other, write } = openFile()
  const set: unknown[] = []
  const pragma = db.pragma.bind(db)
  db.pragma = (source, options) => {
    set.push(source)
    return pragma(source, options)
  }
  other.exec('BEGIN IMMEDIATE')
  const results = await Promise.allSettled(Array.from({ length: 50 }, () => write()))
  expect(results.every(({ status }) => status === 'rejected')).toBe(true)
  await expect(write()).rejects.toMatchObject(refusedAs('locked'))
  expect(set).toEqual(['busy_timeout = 100'])
  other.exec('ROLLBACK')
  await write()
  expect(set).toEqual(['busy_timeout = 100', 'busy_timeout = 5000'])
})

test('a full database refuses the write that does not fit, and takes one of the same commit that does', async () => {
  const { db, write } = openFile()
  const pages = Number(db.pragma('page_count', { simple: true }))
  db.pragma(`max_page_count = ${pages}`)
  const [large, small] = await Promise.allSettled([write('x'.repeat(100_000)), write()])
  expect(large).toMatchObject({ status: 'rejected', reason: refusedAs('full') })
  expect(small?.status).toBe('fulfilled')
})

test('a read-only database refuses every write and says so', async () => {
  const { db, file, write } = openFile()
  db.pragma('query_only = ON')
  await expect(write()).rejects.toMatchObject(refusedAs('read_only'))
  await expect(write()).rejects.toThrow(`The database ${file} is read-only`)
  db.pragma('query_only = OFF')
  await write()
})

test('a database that is deleted, moved or replaced acknowledges nothing until it is back', async () => {
  const { file, write } = openFile()
  await write()
  renameSync(file, `${file}.away`)
  await expect(write()).rejects.toMatchObject(refusedAs('gone'))
  copyFileSync(`${file}.away`, file)
  await expect(write()).rejects.toMatchObject(refusedAs('replaced'))
  renameSync(`${file}.away`, file)
  await write()
  rmSync(`${file}-wal`)
  await expect(write()).rejects.toMatchObject(refusedAs('log_gone'))
})

test('a database without the index of its log acknowledges nothing until that is back', async () => {
  const { file, write } = openFile()
  await write()
  renameSync(`${file}-shm`, `${file}.away`)
  await expect(write()).rejects.toMatchObject(refusedAs('log_gone'))
  // As another process makes it, which then shares no lock with this one.
  writeFileSync(`${file}-shm`, '')
  await expect(write()).rejects.toMatchObject(refusedAs('log_gone'))
  renameSync(`${file}.away`, `${file}-shm`)
  await write()
})

test('a database whose folder cannot be looked into is refused with its reason until it can', async () => {
  const { file, write } = openFile()
  await write()
  const folder = dirname(file)
  renameSync(folder, `${folder}.away`)
  symlinkSync(folder, folder)
  await expect(write()).rejects.toMatchObject(refusedAs('unreadable'))
  rmSync(folder)
  renameSync(`${folder}.away`, folder)
  await write()
})

test.each([
  ['EACCES', 'closed'],
  ['EPERM', 'closed'],
  ['EIO', 'unreadable'],
  ['ESTALE', 'unreadable'],
])('a path that the system refuses with %s is a fault of the database', (code, reason) => {
  const refused = Object.assign(new Error(`${code}: refused, stat '/data/upshot.db'`), { code })
  expect(translateFault(refused, '/data/upshot.db')).toMatchObject(refusedAs(reason))
})

test('a write that is committed into a file deleted meanwhile is not acknowledged', async () => {
  const { file, db } = openFile()
  const commit = new GroupCommit(db)
  const insert = db.prepare('INSERT INTO entry (text) VALUES (?)')
  const written = commit.write(() => {
    rmSync(file)
    return insert.run('lost')
  })
  await expect(written).rejects.toMatchObject(refusedAs('gone'))
})
