import type { BigIntStats } from 'node:fs'
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { UpshotError } from '../../core/errors.ts'
import type { Clock } from '../../core/time.ts'
import { isProvable, type Version, version } from '../version.ts'
import { BlockWriter } from './block-writer.ts'
import type { KeptHashes, PartHash } from './part-hash.ts'
import { continuedHash, emptyHash } from './threaded-hash.ts'
import { UncachedFile } from './uncached-file.ts'

/** The marks that tell whether a part still belongs to the file. */
const marks = z.object({
  service: z.string(),
  id: z.string(),
  size: z.number().nullable(),
  modifiedAt: z.string().nullable(),
  version,
})
type Marks = z.infer<typeof marks>
type Wanted = Omit<Marks, 'version'>

/** Device and number of a file. */
type Place = Pick<BigIntStats, 'dev' | 'ino'>

interface PartRequest {
  /** Path of the finished file. */
  to: string
  wanted: Wanted
  /** True: continue the part that an earlier download left. */
  resume: boolean
  kept: KeptHashes
  clock: Clock
  signal: AbortSignal
}

/** A partial download: the bytes in `<target>.part`, its marks in `<target>.part.json`. */
export class PartFile {
  readonly #target: string
  readonly #kept: KeptHashes
  #file: UncachedFile
  /** By which the file is told from that of another process. */
  #place: Place
  readonly #clock: Clock
  #hash: PartHash
  #writer: BlockWriter
  #bytes: number
  #isHashed = false
  #marks: Wanted & { version: Version | null }

  private constructor(
    { to, kept, clock }: PartRequest,
    parts: {
      file: UncachedFile
      place: Place
      hash: PartHash
      bytes: number
      marks: Wanted & { version: Version | null }
    },
  ) {
    this.#target = to
    this.#kept = kept
    this.#file = parts.file
    this.#place = parts.place
    this.#clock = clock
    this.#hash = parts.hash
    this.#writer = new BlockWriter(parts.file, { hash: parts.hash, at: parts.bytes, clock })
    this.#bytes = parts.bytes
    this.#marks = parts.marks
  }

  /**
   * Continues an earlier part when its marks agree with `wanted`; otherwise begins an empty one.
   */
  static async open(request: PartRequest): Promise<PartFile> {
    const { to, wanted, resume, kept, signal } = request
    await mkdir(dirname(to), { recursive: true })
    const found = resume ? await readMarks(to) : null
    const isContinued = found !== null && isSame(found, wanted) && (await sizeOf(partPath(to))) > 0
    const file = isContinued ? await UncachedFile.open(partPath(to)) : await openAnew(to)
    try {
      const place = await file.plain.stat({ bigint: true })
      const bytes = Number(place.size)
      const known = bytes === 0 ? emptyHash(wanted.size) : await kept.take(to, file.plain)
      const hash = known ?? (await continuedHash(file, { bytes, size: wanted.size, signal }))
      const marks = isContinued ? found : { ...wanted, version: null }
      return new PartFile(request, { file, place, hash, bytes, marks })
    } catch (error) {
      await file.close()
      throw error
    }
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Of the bytes in the part; null where it is empty. */
  get version(): Version | null {
    return this.#marks.version
  }

  /**
   * Prepares for bytes from `offset` on: the end of this part, or 0, which empties it. Throws
   * `conflict` where another process has put its own there, whose marks they would replace.
   */
  async expectFrom(offset: number, version: Version): Promise<void> {
    if (!(await this.#isThere())) throw describeOther(this.#target)
    if (offset === 0 && this.#bytes > 0) await this.#empty()
    this.#marks = { ...this.#marks, version }
    await writeFile(marksPath(this.#target), JSON.stringify(this.#marks))
  }

  /** Copies the bytes; resolves as soon as more may come. */
  async append(bytes: Uint8Array): Promise<void> {
    await this.#writer.append(bytes)
    this.#bytes += bytes.byteLength
  }

  /**
   * Renames the part to the target once its bytes are on the disk. A reader sees the old file or
   * the new one.
   */
  async finish(): Promise<{ bytes: number; sha256: string }> {
    await this.#writer.drain()
    this.#isHashed = true
    const [sha256] = await Promise.all([this.#hash.digest(), this.#file.sync()])
    if (!(await this.#isThere())) throw describeOther(this.#target)
    // By a name that no download opens: another process may have put its part there just now.
    const whole = `${this.#target}.part.whole`
    await rename(partPath(this.#target), whole)
    if (!(await this.#isThere(whole))) {
      await rename(whole, partPath(this.#target))
      throw describeOther(this.#target)
    }
    await rename(whole, this.#target)
    if (!(await this.#isThere(this.#target))) throw describeOther(this.#target)
    // Only now: another file may get the number of one that is closed and removed.
    await this.#writer.close()
    await this.#file.close()
    await rm(marksPath(this.#target), { force: true })
    await syncDirectory(dirname(this.#target))
    return { bytes: this.#bytes, sha256 }
  }

  /** Keeps the part for a later download. An empty one is removed: it would save nothing. */
  async leave(): Promise<void> {
    try {
      await this.#writer.drain()
      if (!this.#isHashed) await this.#keepHash()
    } catch {
      // A write failed. The next download reads the part again to hash it.
      await this.#hash.end()
    } finally {
      await this.#writer.close()
      await this.#file.close()
    }
    if (this.#bytes === 0) await this.#remove()
  }

  /** Not of a part to which another process has written more: the hash does not have that. */
  async #keepHash(): Promise<void> {
    const { size } = await this.#file.plain.stat()
    if (size === this.#bytes) await this.#kept.keep(this.#target, this.#hash, this.#file.plain)
    else await this.#hash.end()
  }

  /** Whether the part is still at its path: another process may have put its own there. */
  async #isThere(path = partPath(this.#target)): Promise<boolean> {
    const found = await stat(path, { bigint: true }).catch(() => null)
    return found?.ino === this.#place.ino && found.dev === this.#place.dev
  }

  /** Removes the part: a later download starts anew. */
  async discard(): Promise<void> {
    await this.leave()
    await this.#remove()
  }

  async #remove(): Promise<void> {
    if (!(await this.#isThere())) return
    await rm(partPath(this.#target), { force: true })
    await rm(marksPath(this.#target), { force: true })
  }

  async #empty(): Promise<void> {
    await this.#hash.end()
    await this.#writer.close()
    await this.#file.close()
    this.#bytes = 0
    this.#file = await openAnew(this.#target)
    this.#place = await this.#file.plain.stat({ bigint: true })
    this.#hash = emptyHash(this.#marks.size)
    this.#writer = new BlockWriter(this.#file, { hash: this.#hash, at: 0, clock: this.#clock })
  }
}

function describeOther(target: string): UpshotError {
  const fix = 'Give each download a path of its own, or run it again.'
  return new UpshotError('conflict', `Another process downloads to ${target}.`, { details: { fix } })
}

function partPath(target: string): string {
  return `${target}.part`
}

function marksPath(target: string): string {
  return `${target}.part.json`
}

/**
 * An empty part. A process that still writes to the one before keeps that to itself: no bytes of
 * two versions are joined.
 */
async function openAnew(target: string): Promise<UncachedFile> {
  await rm(partPath(target), { force: true })
  return await UncachedFile.open(partPath(target), { isNew: true }).catch((error: unknown) => {
    throw error instanceof Error && 'code' in error && error.code === 'EEXIST' ? describeOther(target) : error
  })
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => null)
  return found?.size ?? 0
}

/** The marks of a part; null when there are none that can be parsed. */
async function readMarks(target: string): Promise<Marks | null> {
  try {
    return marks.parse(JSON.parse(await readFile(marksPath(target), 'utf8')))
  } catch {
    return null
  }
}

/**
 * Whether a part belongs to the wanted file. That takes a strong ETag, or a size and a date on
 * both sides.
 */
function isSame(kept: Marks, wanted: Wanted): boolean {
  const isNamed = kept.service === wanted.service && kept.id === wanted.id
  const isAlike =
    (wanted.size === null || kept.size === wanted.size) &&
    (wanted.modifiedAt === null || kept.modifiedAt === wanted.modifiedAt)
  const isMarked = isProvable(kept.version) || (wanted.size !== null && wanted.modifiedAt !== null)
  return isNamed && isAlike && isMarked
}

/** Syncs a directory: only then is a rename in it on the disk. */
async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
