import { read, write } from 'node:fs'
import { promisify } from 'node:util'

const readFrom = promisify(read)
const writeTo = promisify(write)

/**
 * Direct access wants addresses, positions and lengths in whole blocks of the disk; a page is a
 * whole number of any disk's.
 */
export const PAGE_BYTES = 4096

/** A file that is open twice, as numbers that any thread of the process can use. */
export interface Descriptors {
  plain: number
  /** Past the system's cache (`O_DIRECT`); null where that cannot be had. */
  direct: number | null
}

/**
 * Memory that begins with a page and that threads can share: V8 lays a buffer that might grow into
 * pages of its own.
 */
export function pageMemory(bytes: number): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(bytes, { maxByteLength: bytes }), 0, bytes)
}

/** Reads into memory that begins with a page; bytes read, 0 at the end of the file. */
export function readAt(file: Descriptors, memory: Uint8Array, at: number): Promise<number> {
  return inBestWay(file, memory, at, async (fd) => (await readFrom(fd, memory, 0, memory.byteLength, at)).bytesRead)
}

/**
 * Writes bytes that begin within their page of memory where they do in that of the file; bytes
 * written.
 */
export function writeAt(file: Descriptors, bytes: Uint8Array, at: number): Promise<number> {
  return inBestWay(file, bytes, at, async (fd) => (await writeTo(fd, bytes, 0, bytes.byteLength, at)).bytesWritten)
}

async function inBestWay(
  file: Descriptors,
  bytes: Uint8Array,
  at: number,
  move: (fd: number) => Promise<number>,
): Promise<number> {
  const isInPages = at % PAGE_BYTES === 0 && bytes.byteLength % PAGE_BYTES === 0
  if (file.direct === null || !isInPages) return move(file.plain)
  try {
    return await move(file.direct)
  } catch (error) {
    // Some file systems let a file be opened in this way, but not be used.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error
    file.direct = null
    return move(file.plain)
  }
}
