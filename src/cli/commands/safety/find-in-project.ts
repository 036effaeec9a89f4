import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { createEraser, type Words } from '../../../core/safety/create-eraser.ts'

/** Folders with code of others, or with the database itself. */
const LEFT_OUT = new Set(['node_modules', '.git', '.upshot'])
const DATABASE = /\.db(-wal|-shm)?$/
const MAX_BYTES = 64 * 1024 * 1024
const MAX_FILES = 100

/** Files of a project with the words, such as saved runs and plans: named, and not changed. */
export function findInProject(root: string, words: Words): string[] {
  const eraser = createEraser(words)
  const found: string[] = []
  const look = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (found.length === MAX_FILES) return
      if (entry.isDirectory() && !LEFT_OUT.has(entry.name)) look(path)
      else if (entry.isFile() && hasWords(path)) found.push(relative(root, path))
    }
  }
  const hasWords = (path: string) =>
    eraser.isIn(`/${relative(root, path)}`) ||
    (!DATABASE.test(path) && statSync(path).size <= MAX_BYTES && eraser.isIn(readFileSync(path, 'utf8')))
  look(root)
  return found
}
