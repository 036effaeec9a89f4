import { hash } from 'node:crypto'
import type { Request } from 'express'
import { UpshotError } from '../../core/errors.ts'
import type { Store } from '../../core/store/store.ts'
import type { Caller } from '../access/caller.ts'

const KEY = /^[\x21-\x7e]{1,200}$/

/**
 * Performs a request with an `Idempotency-Key` once in 24 h: a repeated one gets the first answer.
 * Throws `conflict` for another request with the key, or while the first one has no answer.
 */
export async function answerOnce(
  store: Pick<Store, 'beginAnswer' | 'endAnswer'>,
  { request, caller, now }: { request: Request; caller: Caller; now: number },
  perform: () => Promise<unknown>,
): Promise<unknown> {
  const key = request.get('idempotency-key')
  if (key === undefined) return perform()
  if (!KEY.test(key)) {
    throw new UpshotError('invalid_request', 'An Idempotency-Key has 1 to 200 characters of ASCII without spaces.')
  }
  const name = `${caller.kind}:${caller.id}`
  const content = [request.method, request.originalUrl, JSON.stringify(request.body)].join('\n')
  const asked = hash('sha256', content, 'hex')
  const known = await store.beginAnswer({ caller: name, key, request: asked }, now)
  if (known === null) {
    const answer = await perform().catch(async (error: unknown) => {
      await store.endAnswer({ caller: name, key }, null)
      throw error
    })
    await store.endAnswer({ caller: name, key }, JSON.stringify(answer ?? null))
    return answer
  }
  if (known.request !== asked) throw refuse('This Idempotency-Key was used for another request.', 'Use a new key.')
  if (known.answer !== null) return JSON.parse(known.answer)
  throw refuse(
    'The first request with this Idempotency-Key has no answer.',
    'Look whether it took effect, then use a new key.',
  )
}

function refuse(message: string, fix: string): UpshotError {
  return new UpshotError('conflict', message, { fix })
}
