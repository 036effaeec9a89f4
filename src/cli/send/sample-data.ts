import { newId } from '../../core/ids.ts'
import { isoTime } from '../../core/time.ts'

/** Plausible data for an event of this type; empty if the service does not document the type. */
export function sampleData(type: string, now: number): Record<string, unknown> {
  if (type.startsWith('file.')) return { service: 'storage_a', file: sampleFile(now) }
  if (type === 'transfer.completed') return { transfer: sampleTransfer('completed', now) }
  if (type === 'transfer.failed') {
    const error = { code: 'service_error', message: 'The storage refused the file.' }
    return { transfer: { ...sampleTransfer('failed', now), bytesDone: 0, error } }
  }
  return {}
}

function sampleFile(now: number): Record<string, unknown> {
  const moments = { createdAt: isoTime(now), modifiedAt: isoTime(now) }
  const name = 'triggered.txt'
  return { id: newId('fil', now), name, type: 'file', mimeType: 'text/plain', size: 42, path: `/${name}`, ...moments }
}

function sampleTransfer(status: 'completed' | 'failed', now: number): Record<string, unknown> {
  const end = (service: string, fileId: string | null) => ({ service, path: '/triggered.txt', fileId })
  return {
    id: newId('trf', now),
    source: end('storage_a', newId('fil', now)),
    destination: end('storage_b', status === 'completed' ? newId('fil', now) : null),
    status,
    bytesTotal: 42,
    bytesDone: 42,
    startedAt: isoTime(now - 1_000),
    finishedAt: isoTime(now),
  }
}
