/** The value of a cookie; null where the header has none of this name. */
export function readCookie(header: string | undefined, name: string): string | null {
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=')
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim()
  }
  return null
}

/** Where the page is served: decides the name of its cookie, and how it is sent. */
export interface CookieScope {
  /** Port of the server: cookies of one host are shared by all of its ports. */
  port: number
  isHttps: boolean
  basePath: string
}

/** Browsers accept `__Host-` only over https and for the whole host. */
export function cookieName({ port, isHttps, basePath }: CookieScope): string {
  const name = `upshot_${port}`
  if (!isHttps) return name
  return basePath === '' ? `__Host-${name}` : `__Secure-${name}`
}

/** The `Set-Cookie` of a session; `maxAgeSeconds` 0 removes it. */
export function writeCookie(place: CookieScope, value: string, maxAgeSeconds: number): string {
  const path = place.basePath === '' ? '/' : place.basePath
  const secure = place.isHttps ? '; Secure' : ''
  return `${cookieName(place)}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`
}
