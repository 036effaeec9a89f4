import { type ReactNode, useEffect } from 'react'
import { useFeed } from '../api/live.ts'

interface PageHeadParts {
  title: string
  beside?: ReactNode
  /** True: the page does not follow the live feed. */
  isStill?: boolean
  children?: ReactNode
}

/** The title of a page, the state of the feed, and the page's actions. */
export function PageHead({ title, beside, isStill = false, children }: PageHeadParts) {
  useEffect(() => {
    document.title = `${title} · Upshot`
  }, [title])
  return (
    <header className="head">
      <h1>{title}</h1>
      {beside}
      {!isStill && <FeedSwitch />}
      <div className="row push">{children}</div>
    </header>
  )
}

function FeedSwitch() {
  const { state, setPaused } = useFeed()
  const words = { live: 'Live', paused: 'Paused', reconnecting: 'Reconnecting' }
  return (
    <button
      type="button"
      className="plain"
      onClick={() => setPaused(state !== 'paused')}
      title={state === 'paused' ? 'Follow changes again' : 'Hold the page still'}
    >
      <span className={`feed ${state}`} role="status">
        {words[state]}
      </span>
    </button>
  )
}
