import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { continuedHash, emptyHash } from '../../../src/files/disk/threaded-hash.ts'
import { UncachedFile } from '../../../src/files/disk/uncached-file.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { sha256, someBytes } from '../support/download-host.ts'
import { BEGINNING, MIB, NEVER } from '../support/large-part.ts'

const MORE = someBytes(5 * MIB + 3)
const SIZES = [0, 1, 5 * MIB, 9 * MIB]

test.each(SIZES.flatMap((size) => [null, size + MORE.length].map((total) => [size, total] as const)))(
  'a file of %i bytes is hashed with the bytes that are appended (expected size: %s)',
  async (size, total) => {
    const path = join(tempFolder(), 'file')
    await writeFile(path, BEGINNING.subarray(0, size))
    const file = await UncachedFile.open(path)
    const hash = size === 0 ? emptyHash(total) : await continuedHash(file, { bytes: size, size: total, signal: NEVER })
    for (const piece of [MORE.subarray(0, 3 * MIB), MORE.subarray(3 * MIB)]) await hash.update(piece)
    expect(await hash.digest()).toBe(sha256(Buffer.concat([BEGINNING.subarray(0, size), MORE])))
    await file.close()
  },
)
