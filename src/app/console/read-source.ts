import { open, realpath } from 'node:fs/promises'
import { isAbsolute, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SourcePlace } from '../../admin/ports/surroundings.ts'

/** Modules of authors. A file of settings or secrets has another ending. */
const MODULE = /\.[cm]?[jt]sx?$/
/** Lines on each side of the one that a frame names. */
const AROUND = 5
const MAX_BYTES = 1_000_000
/** A line that was made by a machine says little. */
const MAX_COLUMNS = 400

/**
 * The code around the frames of an error, as far as it is at hand. Only modules below `folder` are
 * read: links are followed first, and hidden files and packages are left out.
 */
export async function readSource(folder: string, frames: readonly string[]): Promise<SourcePlace[]> {
  const root = await realpath(folder).catch(() => null)
  if (root === null) return []
  const places = await Promise.all(frames.map((frame) => readPlace(root, frame).catch(() => null)))
  return places.filter((place) => place !== null)
}

async function readPlace(root: string, frame: string): Promise<SourcePlace | null> {
  const [, path = '', number = ''] = /((?:file:\/\/)?\/[^()]*?):(\d+)(?::\d+)?\)?$/.exec(frame) ?? []
  if (path === '') return null
  const real = await realpath(path.startsWith('file:') ? fileURLToPath(path) : path)
  const file = relative(root, real)
  if (!isModuleBelow(file)) return null
  await using handle = await open(real)
  const { size, mtimeMs } = await handle.stat()
  if (size > MAX_BYTES) return null
  const all = (await handle.readFile('utf8')).split(/\r?\n/)
  const line = Number(number)
  const from = Math.max(line - AROUND, 1)
  const lines = all.slice(from - 1, line + AROUND).map((text) => text.slice(0, MAX_COLUMNS))
  return line > all.length ? null : { frame, file, line, from, lines, changedAt: mtimeMs }
}

function isModuleBelow(file: string): boolean {
  if (file === '' || isAbsolute(file) || !MODULE.test(file)) return false
  return file.split(sep).every((part) => !part.startsWith('.') && part !== 'node_modules')
}
