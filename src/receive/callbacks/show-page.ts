import type { IncomingMessage, ServerResponse } from 'node:http'
import { describeError } from '../../core/errors.ts'
import type { HookRecord } from '../../core/incoming/hook.ts'
import type { Publish } from '../../core/notices.ts'
import type { Clock } from '../../core/time.ts'
import type { IntakeLimit } from '../limits/intake-limit.ts'
import { type CallbackPage, PAGE_HEADERS, showHook } from './callback-page.ts'

interface PageParts {
  find: (token: string) => Promise<HookRecord | null>
  intakeLimit: IntakeLimit
  clock: Clock
  publish: Publish
}

/** Shows what a hook asks. A visit changes nothing, so that a mail scanner's decides nothing. */
export async function showPage(
  { find, intakeLimit, clock, publish }: PageParts,
  { request, response, token }: { request: IncomingMessage; response: ServerResponse; token: string },
): Promise<void> {
  const now = clock.now()
  const send = ({ status, html }: CallbackPage) => {
    response.writeHead(status, { ...PAGE_HEADERS, 'Content-Length': Buffer.byteLength(html) })
    response.end(request.method === 'HEAD' ? undefined : html)
  }
  try {
    if (intakeLimit.admit(request.socket.remoteAddress, now) !== null) return send(BUSY)
    const hook = await find(token)
    send(intakeLimit.admitTo(hook?.id, now) === null ? showHook(hook, now) : BUSY)
  } catch (error) {
    publish({ kind: 'fault', where: 'the page of a callback', error: describeError(error) })
    send(BUSY)
  }
}

const BUSY: CallbackPage = { status: 503, html: '<!doctype html><title>Busy</title><p>Try again in a moment.</p>' }
