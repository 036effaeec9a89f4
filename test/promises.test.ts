import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')

/** Ids of the promises in docs/promises.md, in their order. */
function readPromises(): string[] {
  const text = readFileSync(join(ROOT, 'docs/promises.md'), 'utf8')
  return [...text.matchAll(/^- \*\*(P\d+)\*\* /gm)].map(([, id = '']) => id)
}

/** Ids that names of tests begin with. */
function readProofs(): string[] {
  const files = globSync('{test,workflows}/**/*.test.ts', { cwd: ROOT })
  return files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/['"`](P\d+): \w/g)].map(([, id = '']) => id),
  )
}

test('every promise of docs/promises.md has an id, counted from P1', () => {
  const ids = readPromises()
  expect(ids.length).toBeGreaterThan(10)
  expect(ids).toEqual(ids.map((_, index) => `P${index + 1}`))
})

test('every promise of docs/promises.md is proven by a test whose name begins with its id', () => {
  const proofs = readProofs()
  expect(readPromises().filter((id) => !proofs.includes(id))).toEqual([])
})

test('every test whose name begins with the id of a promise proves one that docs/promises.md makes', () => {
  const promises = readPromises()
  expect(readProofs().filter((id) => !promises.includes(id))).toEqual([])
})
