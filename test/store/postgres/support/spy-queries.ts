import pg from 'pg'
import { onTestFinished, vi } from 'vitest'

/** A statement that a session was sent. */
export interface Sent {
  client: pg.Client
  text: string
  /** Of a prepared statement. */
  name: string | undefined
}

/** Everything that the sessions of this process send from now on. */
export function spyQueries(): Sent[] {
  const sent: Sent[] = []
  const query = pg.Client.prototype.query
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [first] = args as [string | { text: string; name?: string }]
    const { text, name } = typeof first === 'string' ? { text: first, name: undefined } : first
    sent.push({ client: this, text, name })
    return Reflect.apply(query, this, args)
  } as typeof query)
  onTestFinished(() => spy.mockRestore())
  return sent
}
