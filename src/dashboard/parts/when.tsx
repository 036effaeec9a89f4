import { useSyncExternalStore } from 'react'
import { appNow } from '../api/app-clock.ts'
import { useZone } from '../state/settings.ts'
import { formatDistance, formatMoment } from '../words/format.ts'

const listeners = new Set<() => void>()
let now = appNow()
let timer: ReturnType<typeof setInterval> | null = null

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  if (timer === null) {
    now = appNow()
    timer = setInterval(() => {
      now = appNow()
      for (const each of listeners) each()
    }, 1_000)
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }
}

/** The present moment, to the second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}

/** A moment as its distance from now, exact on hover. Null: a dash. */
export function When({ at }: { at: string | null }) {
  const present = useNow()
  const { isUtc } = useZone()
  if (at === null) return <span className="quiet">–</span>
  const moment = Date.parse(at)
  return (
    <time dateTime={at} title={formatMoment(moment, isUtc)}>
      {formatDistance(moment, present)}
    </time>
  )
}

/** A moment in full. Null: a dash. */
export function Moment({ at }: { at: string | null }) {
  const { isUtc } = useZone()
  if (at === null) return <span className="quiet">–</span>
  return <time dateTime={at}>{formatMoment(Date.parse(at), isUtc)}</time>
}
