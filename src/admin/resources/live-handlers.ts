import type { Clock } from '../../core/time.ts'
import type { Authenticator } from '../access/authenticator.ts'
import type { LIVE_ROUTES } from '../contract/resources/live.ts'
import type { LiveFeed } from '../live/live-feed.ts'
import type { HttpHandlers } from '../perform/handler.ts'
import type { ProcessFacts } from './access/access-handlers.ts'

interface LiveParts {
  feed: LiveFeed
  clock: Clock
  authenticator: Pick<Authenticator, 'identify'>
  facts: ProcessFacts
  cookieName: () => string
}

/** The live feed. */
export function liveHandlers({
  feed,
  clock,
  authenticator,
  facts,
  cookieName,
}: LiveParts): HttpHandlers<keyof typeof LIVE_ROUTES> {
  return {
    async 'GET /live'({ request, response, caller }) {
      const credentials = { headers: request.headers, address: caller.address, cookieName: cookieName() }
      response.set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' })
      const lastId = request.headers['last-event-id']
      feed.open(response, {
        hello: { role: caller.role, version: facts.version },
        lastId: typeof lastId === 'string' ? lastId : undefined,
        recheck: () => authenticator.identify(credentials, clock.now(), { isUse: false }),
      })
      return undefined
    },
  }
}
