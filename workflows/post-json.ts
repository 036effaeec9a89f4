import { type StepContext, TerminalError } from 'upshot'

/**
 * Posts a JSON document with the step's idempotency key. Throws `TerminalError` for an answer that
 * another attempt would not change.
 */
export async function postJson(url: string, document: object, { signal, idempotencyKey }: StepContext): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
    body: JSON.stringify(document),
    redirect: 'manual',
    signal,
  })
  await response.body?.cancel()
  if (response.ok) return
  const message = `the receiver of the alert answered ${response.status}`
  throw response.status === 429 || response.status >= 500 ? new Error(message) : new TerminalError(message)
}
