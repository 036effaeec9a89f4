import { z } from 'zod'

/** The words of a host about the file whose bytes it sends. Other words tell another version. */
export const version = z.object({
  /** With its port; null where the bytes so far come from several hosts, or nothing joins them. */
  host: z.string().nullable(),
  etag: z.string().nullable(),
  /** `Last-Modified`, as it was sent. */
  modified: z.string().nullable(),
  type: z.string().nullable(),
  /** For `If-Range`: a strong ETag, or a strong date where there is no ETag at all. */
  condition: z.string().nullable(),
})
export type Version = z.infer<typeof version>

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** A file may change twice in one second, and two clocks may differ (RFC 9110, 8.8.2.2). */
const STRONG_AFTER_MS = 60_000

/** The version that a reply with these headers belongs to. */
export function versionOf(headers: Pick<Headers, 'get'>, host: string): Version {
  const [etag, modified] = [headers.get('etag'), headers.get('last-modified')]
  const isStrong = etag === null && parseDate(headers.get('date')) - parseDate(modified) >= STRONG_AFTER_MS
  const condition = isStrongEtag(etag) ? etag : isStrong ? modified : null
  return { host, etag, modified, type: headers.get('content-type'), condition }
}

/** True when bytes of `now` cannot continue those of `before`: a mark has changed or is gone. */
export function isOtherVersion(before: Version, now: Version): boolean {
  if (before.etag !== now.etag || hasChanged(before.type, now.type)) return true
  // A range that answers a strong ETag may leave the date out (RFC 9110, 15.3.7).
  return isStrongEtag(now.etag) ? hasChanged(before.modified, now.modified) : before.modified !== now.modified
}

/** The same for a reply without bytes, which need not describe the file. */
export function contradicts(before: Version, now: Version): boolean {
  return hasChanged(before.etag, now.etag) || hasChanged(before.modified, now.modified)
}

/** True when an equal ETag will prove one version: it is strong, and one host gave all bytes. */
export function isProvable({ etag, host }: Version): boolean {
  return isStrongEtag(etag) && host !== null
}

/** True when the marks alone prove that both are one version. */
export function isProvenSame(before: Version, now: Version): boolean {
  return isProvable(before) && before.etag === now.etag && before.host === now.host
}

function hasChanged(before: string | null, now: string | null): boolean {
  return before !== null && now !== null && before !== now
}

/** A weak ETag promises the same meaning, not the same bytes. */
function isStrongEtag(etag: string | null): boolean {
  return etag !== null && /^"[^"]*"$/.test(etag)
}

function parseDate(text: string | null): number {
  return text !== null && HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN
}
