import { defineWorkflow, TerminalError } from 'upshot'
import { transferFailed } from '../events.ts'

/** The address of an incoming webhook of your chat. A test sets another one. */
export const chat = { url: 'https://chat.example.com/hooks/operations' }

/** Tells a channel of each transfer that failed. */
export default defineWorkflow({
  id: 'alert-to-chat',
  on: transferFailed,
  retry: { attempts: 10, min: '1s', max: '10m' },
  async run({ event, step }) {
    const { source } = event.data.transfer
    await step.run(
      'post',
      ({ idempotencyKey, signal }) => post(`${source.path} was not transferred`, { idempotencyKey, signal }),
      {
        timeout: '20s',
        target: 'chat',
      },
    )
  },
})

/** A crash may repeat the step. The key is the same then, so that the chat shows it once. */
async function post(text: string, { idempotencyKey, signal }: { idempotencyKey: string; signal: AbortSignal }) {
  const headers = { 'content-type': 'application/json', 'idempotency-key': idempotencyKey }
  const response = await fetch(chat.url, { method: 'POST', headers, body: JSON.stringify({ text }), signal })
  // Another attempt does not change an address that is wrong.
  if (response.status === 404) throw new TerminalError('the chat knows no such channel')
  if (!response.ok) throw new Error(`the chat answered ${response.status}`)
}
