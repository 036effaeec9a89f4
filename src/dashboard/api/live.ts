import { type Query, type QueryClient, useQueryClient } from '@tanstack/react-query'
import { createContext, useContext, useEffect, useState } from 'react'
import { pageKey, readMessages } from './client.ts'
import { SET_UP, SET_UP_MS, STILL } from './use-api.ts'

/** `paused` by the reader, or because a selection stands; `polling` in a browser without locks. */
type FeedState = 'live' | 'paused' | 'reconnecting' | 'polling'

/** Longest time between two looks while the feed is down, or where the browser has no locks. */
const POLL_MS = 5_000
const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 10_000
/** The feed says something every 15 s: one that is silent for longer is lost, as after a sleep. */
const SILENT_MS = 45_000

/** The feed tells of changes so often at most, and each page of a list rests so long. */
const PACE_MS = 500
/** A question rests so many times as long as its answer took, which a slow database needs. */
const REST = 4

/** Questions that are asked once more when their answer has come and their rest is over. */
const owed = new Set<Query>()
/** The ends of the rests. */
const rests = new WeakMap<Query, Promise<void>>()

/** Asks every question again but those that stand still. */
function askAgain(client: QueryClient): void {
  for (const query of client.getQueryCache().findAll({ predicate: ({ meta }) => meta !== STILL })) {
    if (owed.has(query)) continue
    owed.add(query)
    void askInTurn(client, query)
  }
}

/**
 * Asks a question again when it has rested. An answer on its way is let come: changes that follow
 * each other faster than answers would keep the page as it was. A tab that nobody sees asks for
 * nothing.
 */
async function askInTurn(client: QueryClient, query: Query): Promise<void> {
  do {
    await rests.get(query)
    await query.promise?.catch(() => {})
  } while (query.state.fetchStatus !== 'idle')
  if (!owed.delete(query) || document.hidden) return
  const askedAt = Date.now()
  const answered = client.invalidateQueries({ predicate: (each) => each === query })
  rests.set(
    query,
    answered.then(() => new Promise((resolve) => setTimeout(resolve, restOf(query, Date.now() - askedAt)))),
  )
}

function restOf({ queryKey: [name], state: { data } }: Query, tookMs: number): number {
  if (SET_UP.has(name)) return SET_UP_MS
  const { pages = [] } = (data ?? {}) as { pages?: readonly unknown[] }
  return Math.max(REST * tookMs, PACE_MS * pages.length)
}

interface Feed {
  state: FeedState
  setPaused: (isPaused: boolean) => void
}

export const FeedContext = createContext<Feed>({ state: 'reconnecting', setPaused: () => {} })
export const useFeed = (): Feed => useContext(FeedContext)

/**
 * Follows the live feed, and asks for everything on the page again when something changed. `isOut`:
 * nobody is logged in, so it asks for nothing.
 */
export function useLiveFeed(isOut: boolean): Feed {
  const client = useQueryClient()
  const [isHeld, setPaused] = useState(false)
  const isPaused = isHeld || isOut
  const [state, setState] = useState<FeedState>(navigator.locks ? 'reconnecting' : 'polling')
  useEffect(() => {
    const refresh = () => {
      if (!isPaused) askAgain(client)
    }
    const stop = joinFeed((message) => (message === 'changed' ? refresh() : setState(message)))
    document.addEventListener('visibilitychange', refresh)
    return () => {
      stop()
      document.removeEventListener('visibilitychange', refresh)
    }
  }, [client, isPaused])
  useEffect(() => {
    if (!isPaused) return
    owed.clear()
    // An answer that is on its way would come during the pause. The first one of a page may.
    void client.cancelQueries({ predicate: ({ meta, state: { data } }) => meta !== STILL && data !== undefined })
    return () => askAgain(client)
  }, [client, isPaused])
  useEffect(() => {
    if (state === 'live' || isPaused) return
    const timer = setInterval(() => askAgain(client), POLL_MS)
    return () => clearInterval(timer)
  }, [client, state, isPaused])
  return { state: isPaused ? 'paused' : state, setPaused }
}

/** `asked` by a tab that is new; the others come from the tab that has the connection. */
type Message = 'asked' | 'changed' | 'live' | 'reconnecting'

/**
 * One connection for all tabs of the dashboard: a browser has six for a host. The tab with the lock
 * has it, and tells the others. When that tab closes, the next one gets the lock. Pages from a host
 * of plain HTTP have no locks, and ask by themselves.
 */
function joinFeed(tell: (message: Exclude<Message, 'asked'>) => void): () => void {
  if (!navigator.locks) return () => {}
  const name = `upshot-live:${new URL(document.baseURI).pathname}`
  const channel = new BroadcastChannel(name)
  const left = new AbortController()
  let isFirst = false
  let state: 'live' | 'reconnecting' = 'reconnecting'
  const send = (message: Exclude<Message, 'asked'>) => {
    if (message !== 'changed') state = message
    channel.postMessage(message)
    tell(message)
  }
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data !== 'asked') tell(data)
    else if (isFirst) channel.postMessage(state)
  }
  channel.postMessage('asked')
  const lead = () => {
    isFirst = true
    return followFeed(send, left.signal)
  }
  navigator.locks.request(name, { signal: left.signal }, lead).catch(() => {})
  return () => {
    left.abort()
    channel.close()
  }
}

async function followFeed(send: (message: Exclude<Message, 'asked'>) => void, signal: AbortSignal): Promise<void> {
  for (let waitMs = FIRST_WAIT_MS; !signal.aborted; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    const hasListened = await listen(send, signal)
    if (signal.aborted) return
    if (hasListened) waitMs = FIRST_WAIT_MS
    send('reconnecting')
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
}

/** Reads the feed until it ends or is silent for too long; true where it began. */
async function listen(send: (message: 'changed' | 'live') => void, left: AbortSignal): Promise<boolean> {
  const silent = new AbortController()
  const signal = AbortSignal.any([left, silent.signal])
  let timer: ReturnType<typeof setTimeout> | undefined
  const hear = () => {
    clearTimeout(timer)
    timer = setTimeout(() => silent.abort(), SILENT_MS)
  }
  let hasBegun = false
  try {
    hear()
    const headers = { 'X-Upshot': pageKey.read() ?? '' }
    const response = await fetch(new URL('api/v1/live', document.baseURI), { headers, signal })
    if (!response.ok) return false
    send('live')
    hasBegun = true
    for await (const message of readMessages(response)) {
      hear()
      if (!left.aborted && message.includes('true')) send('changed')
    }
  } catch {
    // A connection that breaks is made again.
  } finally {
    clearTimeout(timer)
  }
  return hasBegun
}
