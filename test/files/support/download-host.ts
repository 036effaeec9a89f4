import { createHash } from 'node:crypto'
import type { Version } from '../../../src/files/version.ts'
import { entry } from './entries.ts'
import { ok, type Reply, type ScriptedServer } from './scripted-server.ts'

/**
 * Lets the API give out numbered download URLs on `host`: `/bytes/1?signature=…`, `/bytes/2?…`. It
 * describes the file by `details`, which is called at each look.
 */
export function giveUrls(
  api: ScriptedServer,
  host: ScriptedServer,
  { expiresInMs = 900_000, details = () => ({}) }: { expiresInMs?: number; details?: () => object } = {},
): ScriptedServer {
  let number = 0
  return api.otherwise((response, request) => {
    if (!request.path.endsWith('/download')) {
      const id = request.path.split('/').at(-1) ?? ''
      return ok(entry(id, { mimeType: null, size: null, ...details() }))(response, request)
    }
    const downloadUrl = `${host.origin}/bytes/${++number}?signature=hush-hush`
    ok({ downloadUrl, expiresAt: new Date(Date.now() + expiresInMs).toISOString() })(response, request)
  })
}

/** The version in the marks of a part that this host sent with this ETag. */
export function versionBy(host: ScriptedServer, etag: string | null = '"v1"'): Version {
  return { host: new URL(host.origin).host, etag, modified: null, type: null, condition: etag }
}

/** Serves bytes as a good host does: with ranges, a strong ETag and If-Range. */
export function serveBytes(content: Buffer, options: { etag?: string | null; ranges?: boolean } = {}): Reply {
  const { etag = '"v1"', ranges = true } = options
  return (response, request) => {
    const from = Number(/^bytes=(\d+)-$/.exec(String(request.headers.range ?? ''))?.[1] ?? 0)
    const ifRange = request.headers['if-range']
    const isRange = ranges && from > 0 && (ifRange === undefined || ifRange === etag)
    const tag = etag === null ? {} : { etag }
    if (isRange && from >= content.length) {
      response.writeHead(416, { ...tag, 'content-range': `bytes */${content.length}` }).end()
      return
    }
    const body = isRange ? content.subarray(from) : content
    const range = isRange ? { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` } : {}
    response.writeHead(isRange ? 206 : 200, { ...tag, ...range, 'content-length': body.length }).end(body)
  }
}

/**
 * Announces all bytes, sends those before `until`, and breaks the connection when `seen` resolves.
 */
export function cutAt(
  content: Buffer,
  until: number,
  { seen, etag = '"v1"' }: { seen: Promise<void>; etag?: string },
): Reply {
  return (response, request) => {
    const from = Number(/^bytes=(\d+)-$/.exec(String(request.headers.range ?? ''))?.[1] ?? 0)
    const range = from > 0 ? { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` } : {}
    response.writeHead(from > 0 ? 206 : 200, { etag, ...range, 'content-length': content.length - from })
    response.write(content.subarray(from, until))
    void seen.then(() => response.destroy())
  }
}

/**
 * Turns progress into promises. Bytes that were received and not read are lost with their
 * connection.
 */
export function watchProgress() {
  const waiting: { bytes: number; resolve: () => void }[] = []
  return {
    reached: (bytes: number) => new Promise<void>((resolve) => void waiting.push({ bytes, resolve })),
    onProgress: (progress: { bytes: number }) => {
      for (const { bytes, resolve } of waiting) if (progress.bytes >= bytes) resolve()
    },
  }
}

/** Bytes that differ everywhere, so that a wrong offset shows. */
export function someBytes(count: number): Buffer {
  return Buffer.from(
    Uint32Array.from({ length: Math.ceil(count / 4) }, (_, index) => index * 2_654_435_761).buffer,
  ).subarray(0, count)
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
