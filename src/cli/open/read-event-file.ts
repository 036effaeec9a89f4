import { readFileSync } from 'node:fs'
import { UpshotError } from '../../core/errors.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import { parseEvent } from '../../core/incoming/parse-event.ts'

/** An event that is not stored, from the body of one. */
export function readEventFile(file: string, { account, now }: { account: string; now: number }): EventRecord {
  const body = readBody(file)
  const { id, type, created } = parseEvent(body)
  const at = { createdAt: Date.parse(created), receivedAt: now, stream: 0, seq: 0 }
  return { id, account, type, origin: 'webhook', body: JSON.stringify(body), ...at }
}

function readBody(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new UpshotError('invalid_request', `${file} is no readable JSON.`, {
      cause,
      fix: 'It needs the body of an event: "upshot events show <id> --json" prints one as `body`.',
    })
  }
}
