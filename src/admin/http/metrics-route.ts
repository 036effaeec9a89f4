import type { RequestHandler } from 'express'
import type { Clock } from '../../core/time.ts'
import type { Authenticator } from '../access/authenticator.ts'
import { checkHost, type OwnAddress } from './check-origin.ts'

export interface MetricsSource {
  /** True: a scraper on this machine needs no token. */
  isOpen: boolean
  /** The answer to a scrape; `accept` is its header. */
  scrape: (accept: string) => Promise<{ contentType: string; text: string }>
}

interface MetricsRouteParts extends MetricsSource {
  authenticator: Pick<Authenticator, 'identify'>
  clock: Clock
  own: () => OwnAddress
}

/**
 * `GET /metrics` for any role. With a token any `Host` is fine: no foreign page can send one.
 * Scrapers in containers use names of their own.
 */
export function metricsRoute({ isOpen, scrape, authenticator, clock, own }: MetricsRouteParts): RequestHandler {
  return async (request, response) => {
    if (isOpen) checkHost(request.headers, own())
    else {
      const { headers, socket } = request
      const credentials = { headers, address: socket.remoteAddress ?? '', cookieName: '' }
      await authenticator.identify(credentials, clock.now())
    }
    const { contentType, text } = await scrape(request.headers.accept ?? '')
    response.set({ 'Content-Type': contentType, 'Cache-Control': 'no-store' }).send(text)
  }
}
