import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** The header in which a command marks its own probes of an endpoint. */
export const PROBE_HEADER = 'x-upshot-probe'

/** A mark is good for this long, in both directions of the clock. */
export const MARK_MS = 60_000

/** The key of marks, which only those have who can open the secrets of this data directory. */
export function deriveProbeKey(vaultKey: Uint8Array): Buffer {
  return createHmac('sha256', vaultKey).update('upshot probe mark').digest()
}

export function markProbe(key: Uint8Array, path: string, now: number): string {
  const claim = `${now}.${randomBytes(16).toString('hex')}`
  return `${claim}.${computeMac(key, path, claim)}`
}

/** True for a mark of this path that is not older than a minute. It may have been used before. */
export function isProbeMark(key: Uint8Array, mark: string, { path, now }: { path: string; now: number }): boolean {
  const [, claim = '', at = '', mac = ''] = /^((\d{1,15})\.[\da-f]{32})\.([\da-f]{64})$/.exec(mark) ?? []
  if (claim === '' || Math.abs(now - Number(at)) > MARK_MS) return false
  return timingSafeEqual(Buffer.from(mac), Buffer.from(computeMac(key, path, claim)))
}

function computeMac(key: Uint8Array, path: string, claim: string): string {
  return createHmac('sha256', key).update(`${claim}.${path}`).digest('hex')
}
