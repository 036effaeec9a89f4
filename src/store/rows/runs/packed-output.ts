import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import type { PackedOutput } from '../../../core/runs/step.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/**
 * Level 1 packs a listing of 8.3 MB to 1.0 MB in 16 ms, and unpacks it in 17 ms. Brotli is as small
 * and as fast but takes 40 ms to unpack.
 */
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Compresses in Node's thread pool, so neither the event loop nor the writer waits. */
export async function packOutput(json: string): Promise<PackedOutput> {
  const bytes = Buffer.from(json)
  return { bytes: bytes.length, data: await compress(bytes, OPTIONS) }
}

/** The JSON text of a packed output. */
export async function unpackOutput(packed: Uint8Array): Promise<string> {
  return (await decompress(packed)).toString()
}
