import { read, write } from 'node:fs'
import { promisify } from 'node:util'

const readFrom = promisify(read)
const writeTo = promisify(write)

/** Alignment for direct access: addresses, positions and lengths are whole pages. */
const PAGE_BYTES = 4096

/** The descriptors of a file that is open twice. Any thread of the process can use them. */
export interface Descriptors {
  plain: number
  /** With `O_DIRECT`, which bypasses the system's cache; null where that is not available. */
  direct: number | null
}

/** Page-aligned memory that threads share, growable so that V8 puts it into whole pages. */
export function pageMemory(bytes: number): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(bytes, { maxByteLength: bytes }), 0, bytes)
}

/** Reads into page-aligned memory. Resolves to the bytes read, 0 at the end of the file. */
export function readAt(file: Descriptors, memory: Uint8Array, at: number): Promise<number> {
  return inBestWay(file, memory, at, async (fd) => (await readFrom(fd, memory, 0, memory.byteLength, at)).bytesRead)
}

/** Writes bytes at the same offset within a page in memory and file; resolves to their number. */
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
    // Some file systems open a file for direct access and then refuse to write.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error
    file.direct = null
    return move(file.plain)
  }
}
