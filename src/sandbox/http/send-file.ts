import { type FileHandle, open } from 'node:fs/promises'
import type { Request, Response } from 'express'
import { ApiError } from './api-error.ts'

/** Bytes per read. Two blocks alternate, so that a file of any size leaves no garbage. */
const BLOCK_BYTES = 1024 * 1024

/** Bytes from `from` up to and excluding `to`. */
interface Span {
  from: number
  to: number
}

/** Sends a file, or one range of it, under the response's ETag (RFC 9110). See decision 30. */
export async function sendFile(request: Request, response: Response, path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    const { size, mtime } = await handle.stat()
    response.set({ 'Last-Modified': mtime.toUTCString(), 'Accept-Ranges': 'bytes' })
    if (isPreconditionFailed(request, response)) throw new ApiError(412, 'invalid_request', 'The file has changed.')
    if (request.fresh) return void response.status(304).end()
    const span = chooseSpan(request, response, size)
    response.set('Content-Length', String(span.to - span.from))
    if (request.method !== 'HEAD') await pour(handle, response, span)
    response.end()
  } finally {
    await handle.close()
  }
}

function isPreconditionFailed(request: Request, response: Response): boolean {
  const match = request.get('if-match')
  if (match !== undefined) return match !== '*' && !match.split(/\s*,\s*/).includes(response.get('ETag') ?? '')
  return isLater(response.get('Last-Modified'), request.get('if-unmodified-since'))
}

/** The whole file, or the one range that is asked for. Throws 416 if the range lies outside. */
function chooseSpan(request: Request, response: Response, size: number): Span {
  const ranges = isOfAnotherFile(request, response) ? undefined : request.range(size, { combine: true })
  if (ranges === -1) {
    response.set('Content-Range', `bytes */${size}`)
    throw new ApiError(416, 'invalid_request', `The file has ${size} bytes.`)
  }
  const [range, ...others] = typeof ranges === 'object' && ranges.type === 'bytes' ? ranges : []
  if (!range || others.length > 0) return { from: 0, to: size }
  response.status(206).set('Content-Range', `bytes ${range.start}-${range.end}/${size}`)
  return { from: range.start, to: range.end + 1 }
}

function isOfAnotherFile(request: Request, response: Response): boolean {
  const known = request.get('if-range')
  if (known === undefined) return false
  return known.includes('"') ? known !== response.get('ETag') : isLater(response.get('Last-Modified'), known)
}

function isLater(date: string | undefined, than: string | undefined): boolean {
  return Date.parse(date ?? '') > Date.parse(than ?? '')
}

/** Reads one block while another is sent. Stops if the client is gone or the file shrank. */
async function pour(handle: FileHandle, response: Response, { from, to }: Span): Promise<void> {
  const newBlock = () => Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, to - from))
  let [block, other] = [newBlock(), newBlock()]
  let sent = Promise.resolve()
  for (let at = from; at < to && !response.destroyed; ) {
    const { bytesRead } = await handle.read(block, 0, Math.min(block.byteLength, to - at), at)
    await sent
    // The file shrank: closing short of Content-Length shows the client that bytes are missing.
    if (bytesRead === 0) response.destroy()
    else sent = write(response, block.subarray(0, bytesRead))
    at += bytesRead
    ;[block, other] = [other, block]
  }
  await sent
}

/** Resolves when the bytes have left, or the connection is closed. */
function write(response: Response, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      response.off('close', settle)
      resolve()
    }
    response.on('close', settle)
    response.write(bytes, settle)
  })
}
