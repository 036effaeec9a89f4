import { createHmac, randomBytes } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** The secret of every measured endpoint. */
export const SECRET = 'bench-secret-of-32-bytes-or-more'
export const EVENT_TYPE = 'file.created'

/** Bytes of the two parts that differ between deliveries, both hex. */
export const ID_BYTES = 32
export const SIGNATURE_BYTES = 64
export const RECORD_BYTES = ID_BYTES + SIGNATURE_BYTES

const BODY_BYTES = 1_024
const BATCH = 4_096

/** A file of signed deliveries: per record the random part of an event id, then a signature. */
export interface DeliveryFile {
  path: string
  count: number
}

/** Records `from` up to `from + count`. */
export interface Slice extends DeliveryFile {
  from: number
}

/** A body of 1,024 bytes, split around the random part of its event id. */
export const BODY_PARTS: readonly [before: string, after: string] = bodyParts()

function bodyParts(): [string, string] {
  const file = {
    id: 'fil_01hzy3v7q2m8',
    name: 'quarterly-report-2026-q1.pdf',
    type: 'file',
    mimeType: 'application/pdf',
    size: 1_482_113,
    path: '/reports/2026/quarterly-report-2026-q1.pdf',
    createdAt: '2026-01-05T09:30:00.000Z',
    modifiedAt: '2026-01-05T09:31:12.000Z',
  }
  const render = (note: string) => {
    const data = { service: 'storage_a', file, labels: ['finance', 'quarterly', 'final'], note }
    const body = { id: 'evt_|', type: EVENT_TYPE, created: '2026-01-05T09:31:13.000Z', data }
    return JSON.stringify(body)
  }
  const padding = BODY_BYTES - (render('').length - 1 + ID_BYTES)
  const [before = '', after = ''] = render('n'.repeat(padding)).split('|')
  return [before, after]
}

/** The body with `id` as the random part of its event id. */
export function renderBody(id: string): string {
  return BODY_PARTS.join(id)
}

/** A new signed delivery. */
export function makeDelivery(): { id: string; signature: string; body: string } {
  const id = randomBytes(ID_BYTES / 2).toString('hex')
  const body = renderBody(id)
  return { id, signature: sign(body), body }
}

/** Signs `count` deliveries before a measurement, which must not include the sender's work. */
export function writeDeliveries(folder: string, count: number): DeliveryFile {
  const path = join(folder, 'deliveries.bin')
  const descriptor = openSync(path, 'w')
  for (let made = 0; made < count; made += BATCH) {
    writeSync(descriptor, makeRecords(Math.min(BATCH, count - made)))
  }
  closeSync(descriptor)
  return { path, count }
}

function makeRecords(count: number): string {
  const ids = randomBytes((count * ID_BYTES) / 2).toString('hex')
  let records = ''
  for (let at = 0; at < ids.length; at += ID_BYTES) {
    const id = ids.slice(at, at + ID_BYTES)
    records += id + sign(renderBody(id))
  }
  return records
}

function sign(body: string): string {
  return createHmac('sha256', SECRET).update(body).digest('hex')
}

/** A request without its two variable parts: `before, signature, between, id, after`. */
export function requestParts(url: string): [before: string, between: string, after: string] {
  const { host, pathname } = new URL(url)
  const head = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    'Content-Type: application/json',
    `Content-Length: ${BODY_BYTES}`,
    'X-Service-Signature: ',
  ]
  return [head.join('\r\n'), `\r\n\r\n${BODY_PARTS[0]}`, BODY_PARTS[1]]
}
