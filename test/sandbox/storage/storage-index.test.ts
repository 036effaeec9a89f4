import { expect, test } from 'vitest'
import { openDatabase } from '../../../src/sandbox/state/database.ts'
import type { Entry } from '../../../src/sandbox/storage/entry.ts'
import { type EntryQuery, StorageIndex } from '../../../src/sandbox/storage/storage-index.ts'
import { tempFolder } from '../../support/temp-folder.ts'

function entry(n: number): Entry {
  const folder = n % 2 === 0 ? '/even' : '/odd'
  const path = `${folder}/${n}.txt`
  return {
    storage: 'storage_a',
    id: `id-${n % 7}-${n}`,
    path,
    parent: folder,
    name: `${n}.txt`,
    type: 'file',
    size: n,
    mimeType: 'text/plain',
    identity: `${n}`,
    fingerprint: `${n}`,
    createdAt: Math.floor(n / 10),
    modifiedAt: 1,
  }
}

function openIndex(count: number) {
  const db = openDatabase(tempFolder())
  const index = new StorageIndex(db)
  db.transaction(() => {
    for (let n = 0; n < count; n++) index.insert(entry(n))
  })()
  return { db, index }
}

const BASE: EntryQuery = {
  storage: 'storage_a',
  path: '/',
  recursive: true,
  sort: { field: 'createdAt', descending: false },
  limit: 10,
  offset: 0,
}

test('a page is the same whether it is read in sequence or by itself, in every order', () => {
  for (const field of ['createdAt', 'modifiedAt', 'name', 'size'] as const)
    for (const descending of [false, true])
      for (const path of ['/', '/even']) {
        const query = { ...BASE, path, sort: { field, descending } }
        const { index } = openIndex(95)
        const whole = index.page({ ...query, limit: 1_000 }).map(({ id }) => id)
        expect(new Set(whole).size).toBe(index.count(query))
        const paged: string[] = []
        for (let offset = 0; offset < whole.length; offset += 10) {
          paged.push(...index.page({ ...query, offset }).map(({ id }) => id))
        }
        expect(paged).toEqual(whole)
      }
})

test('lists by age are read in the order of an index, without sorting', () => {
  const { db } = openIndex(10)
  const planOf = (where: string, start: string) =>
    db
      .prepare<[], { detail: string }>(
        `EXPLAIN QUERY PLAN SELECT * FROM entries WHERE ${where} ${start} ORDER BY created_at, id LIMIT 10`,
      )
      .all()
      .map(({ detail }) => detail)
      .join(' ')
  for (const start of ['', "AND (created_at, id) > (5, 'x')"]) {
    expect(planOf("storage = 'storage_a'", start)).toMatch(/USING INDEX entries_by_age/)
    expect(planOf("storage = 'storage_a' AND parent = '/even'", start)).toMatch(/USING INDEX entries_in_folder/)
    expect(planOf("storage = 'storage_a' AND +path > '/even/' AND +path < '/even0'", start)).not.toMatch(/TEMP B-TREE/)
  }
})
