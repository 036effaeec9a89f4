import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { GroupCommit } from '../../../../src/store/sqlite/database/group-commit.ts'

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
  return { commit: new GroupCommit(counting), insert, texts, commits }
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
  commit.close()
  await waiting
  expect(texts()).toEqual(['a'])
  await expect(commit.write(() => insert.run('b'))).rejects.toMatchObject({ code: 'store_unavailable' })
})
