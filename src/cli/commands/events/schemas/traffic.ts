import { matchType, type ServiceEvent } from '../../../../core/incoming/event.ts'
import { emptyShape, foldBody, type Shape } from '../../../../core/service/shapes/shape.ts'
import type { StorageSpellings } from '../../../../core/service/storage.ts'
import { isoTime } from '../../../../core/time.ts'
import { commandClock } from '../../../command-clock.ts'
import type { Since } from '../../../input/parse-option.ts'
import { call, type Operations } from '../../../open/operations.ts'

/** How far back the commands look unless told otherwise. */
const TRAFFIC_MS = 30 * 24 * 60 * 60 * 1_000

export interface TrafficChoice {
  /** Types or families; none: every type but our own. */
  types: readonly string[]
  /** A moment in ISO 8601. */
  since: string
}

interface Sent {
  id: string
  account: string
  type: string
  receivedAt: string
  data: ServiceEvent['data']
}

export interface TypeTraffic {
  shape: Shape
  /** When the first and the last one came, in ISO 8601. */
  from: string
  to: string
}

/** The moment from which on events are looked at; default: 30 days ago. */
export function readSince(asked: Since | undefined): string {
  const now = commandClock.now()
  return isoTime(asked?.(now) ?? now - TRAFFIC_MS)
}

/**
 * Stored events with their `data`, newest first for each type or family that is named, and each
 * once. Those whose body is pruned are left out.
 */
export async function* readTraffic(operations: Operations, { types, since }: TrafficChoice): AsyncGenerator<Sent> {
  for (const [index, type] of (types.length === 0 ? [undefined] : types).entries()) {
    const before = types.slice(0, index)
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of operations.stream('GET /events/export', { query: { since, type } })) {
      const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const sent = JSON.parse(line) as Sent
        if (!before.some((pattern) => matchType(pattern, sent.type))) yield sent
      }
    }
  }
}

/** How the service writes the storages of each account. */
export async function readSpellings(operations: Operations): Promise<Map<string, StorageSpellings>> {
  const { items } = await call(operations, 'GET /accounts')
  return new Map(items.map(({ name, storages }) => [name, storages]))
}

/** The traffic by type, in order of the names. */
export async function foldTraffic(
  operations: Operations,
  choice: TrafficChoice,
  spellings: ReadonlyMap<string, StorageSpellings>,
): Promise<Map<string, TypeTraffic>> {
  const found = new Map<string, TypeTraffic>()
  for await (const { type, account, receivedAt: at, data } of readTraffic(operations, choice)) {
    const { shape, from, to } = found.get(type) ?? { shape: emptyShape(), from: at, to: at }
    foldBody(shape, data, spellings.get(account))
    found.set(type, { shape, from: at < from ? at : from, to: at > to ? at : to })
  }
  return new Map([...found].sort(([one], [other]) => (one < other ? -1 : 1)))
}
