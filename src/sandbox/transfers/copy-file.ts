import { open } from 'node:fs/promises'

const CHUNK_BYTES = 256 * 1024

/**
 * Copies a file to a path that must not exist. `mayCopy` returns the bytes allowed in the next
 * chunk, or throws.
 */
export async function copyFile(
  { from, to }: { from: string; to: string },
  { mayCopy, onCopied }: { mayCopy: () => number; onCopied: (bytes: number) => void },
): Promise<void> {
  await using source = await open(from)
  await using target = await open(to, 'wx')
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  for (;;) {
    const { bytesRead } = await source.read(chunk, 0, Math.min(CHUNK_BYTES, mayCopy()))
    if (bytesRead === 0) return
    await target.write(chunk, 0, bytesRead)
    onCopied(bytesRead)
  }
}
