import type { MessagePort } from 'node:worker_threads'
import type { Store } from '../../../core/store/store.ts'
import { type Answer, type Call, encodeAnswer } from './messages.ts'

interface Serving {
  /** Sends answers, at once or with those that follow. */
  send: (answers: () => void) => void
  /** Called after the answer to `close`. */
  closed: () => void
}

export function serveCalls(store: Partial<Store>, port: MessagePort, { send, closed }: Serving) {
  let outbox: Answer[] = []
  const flush = () => {
    const answers = outbox
    outbox = []
    if (answers.length > 0) port.postMessage(answers)
  }
  const perform = async ({ number, method, args }: Call) => {
    const call = store[method] as (...args: unknown[]) => Promise<unknown>
    const answered = await encodeAnswer(number, call(...args))
    if (outbox.push(answered) === 1) send(flush)
    // After that turn, in which earlier calls may still get their answers.
    if (method === 'close') setImmediate(closed)
  }
  return (calls: readonly Call[]) => {
    for (const call of calls) void perform(call)
  }
}
