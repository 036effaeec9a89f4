import { useQueryClient } from '@tanstack/react-query'
import { createContext, useContext, useEffect, useState } from 'react'
import type { FeedMessage } from './live-worker.ts'
import workerUrl from './live-worker.ts?sharedworker&url'
import { pageKey } from './page-key.ts'
import { STILL } from './use-api.ts'

/** `paused` by the reader, or because a tab is hidden or a selection stands. */
type FeedState = 'live' | 'paused' | 'reconnecting'

/** Longest time between two looks where the browser has no shared workers, or the feed is down. */
const POLL_MS = 5_000

/** Every question but those that stand still. */
const FOLLOWED = {
  refetchType: 'active',
  predicate: ({ meta }: { meta?: Record<string, unknown> | undefined }) => meta !== STILL,
} as const

interface Feed {
  state: FeedState
  setPaused: (isPaused: boolean) => void
}

export const FeedContext = createContext<Feed>({ state: 'reconnecting', setPaused: () => {} })
export const useFeed = (): Feed => useContext(FeedContext)

/** Follows the live feed, and asks for everything on the page again when something changed. */
export function useLiveFeed(): Feed {
  const client = useQueryClient()
  const [isPaused, setPaused] = useState(false)
  const [state, setState] = useState<'live' | 'reconnecting'>('reconnecting')
  useEffect(() => {
    const refresh = () => {
      if (!isPaused && !document.hidden) void client.invalidateQueries(FOLLOWED)
    }
    const stop = follow((message) => (message.kind === 'state' ? setState(message.state) : refresh()))
    document.addEventListener('visibilitychange', refresh)
    return () => {
      stop()
      document.removeEventListener('visibilitychange', refresh)
    }
  }, [client, isPaused])
  useEffect(() => {
    if (state === 'live' || isPaused) return
    const timer = setInterval(() => void client.invalidateQueries(FOLLOWED), POLL_MS)
    return () => clearInterval(timer)
  }, [client, state, isPaused])
  return { state: isPaused ? 'paused' : state, setPaused }
}

function follow(tell: (message: FeedMessage) => void): () => void {
  if (typeof SharedWorker === 'undefined') return () => {}
  const worker = new SharedWorker(trusted(workerUrl), { type: 'module', name: 'upshot-live' })
  worker.port.onmessage = ({ data }: MessageEvent<FeedMessage>) => tell(data)
  const join = () =>
    worker.port.postMessage({ url: new URL('api/v1/live', document.baseURI).href, key: pageKey.read() ?? '' })
  const leave = () => worker.port.postMessage('bye')
  // The browser may keep a page that was left, and show it again with the Back button.
  const rejoin = ({ persisted }: PageTransitionEvent) => {
    if (persisted) join()
  }
  join()
  addEventListener('pagehide', leave)
  addEventListener('pageshow', rejoin)
  return () => {
    removeEventListener('pagehide', leave)
    removeEventListener('pageshow', rejoin)
    leave()
  }
}

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string }
}

/** The one address that the Trusted Types policy lets become a script. */
const policy = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy('upshot', {
  createScriptURL: (url) => {
    if (new URL(url, document.baseURI).href === new URL(workerUrl, document.baseURI).href) return url
    throw new TypeError('Only the worker of the live feed may be started.')
  },
})

function trusted(url: string): string {
  return policy ? policy.createScriptURL(url) : url
}
