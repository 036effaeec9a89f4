import { randomUUID } from 'node:crypto'
import type { Client, Notification } from 'pg'

/** A notification of a session to itself comes with the answer; a pooler swallows it. */
const HEARD_WITHIN_MS = 1_000

/**
 * Whether a session that listens on a channel hears what is sent there. False behind a pooler,
 * where the process of the server is not the one that the session was told.
 */
export async function hearsItself(client: Client, channel: string): Promise<boolean> {
  const word = randomUUID()
  const heard = Promise.withResolvers<boolean>()
  const listen = ({ payload }: Notification) => void (payload === word && heard.resolve(true))
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  if (!('processID' in client) || client.processID !== rows[0]?.pid) return false
  client.on('notification', listen)
  const timer = setTimeout(() => heard.resolve(false), HEARD_WITHIN_MS)
  try {
    await client.query(`LISTEN "${channel.replaceAll('"', '""')}"`)
    await client.query('SELECT pg_notify($1, $2)', [channel, word])
    return await heard.promise
  } finally {
    clearTimeout(timer)
    client.off('notification', listen)
  }
}
