import { Component, type ComponentProps, type ReactNode, useEffect } from 'react'
import { Link } from 'wouter'
import { useFeed } from '../api/live.ts'
import { steady } from '../words/format.ts'
import { type Answer, Loaded } from './messages.tsx'
import { type Fact, Facts } from './text.tsx'

interface PageHeadParts {
  title: string
  /** The pages above it, as address and words. */
  above?: readonly (readonly [string, string])[]
  beside?: ReactNode
  /** True: the page does not follow the live feed. */
  isStill?: boolean
  children?: ReactNode
}

/** The title of a page, the state of the feed, and the page's actions. */
export function PageHead({ title, above = [], beside, isStill = false, children }: PageHeadParts) {
  useEffect(() => {
    document.title = `${steady(title)} · Upshot`
  }, [title])
  return (
    <div>
      {above.length > 0 && (
        <p className="crumbs">
          {above.map(([href, words], index) => (
            <span key={href}>
              {index > 0 && ' / '}
              <Link href={href}>{words}</Link>
            </span>
          ))}
        </p>
      )}
      <header className="head">
        <h1>{title}</h1>
        {beside}
        {!isStill && <FeedSwitch />}
        <div className="row push">{children}</div>
      </header>
    </div>
  )
}

const FEED = {
  live: { word: 'Live', state: 'completed' },
  paused: { word: 'Paused', state: 'idle' },
  reconnecting: { word: 'Reconnecting', state: 'waiting' },
  polling: { word: 'Every 5 s', state: 'completed' },
} as const

function FeedSwitch() {
  const { state, setPaused } = useFeed()
  return (
    <button
      type="button"
      className="plain"
      onClick={() => setPaused(state !== 'paused')}
      title={state === 'paused' ? 'Follow changes again' : 'Hold the page still'}
    >
      <span className="feed" data-state={FEED[state].state} role="status">
        {FEED[state].word}
      </span>
    </button>
  )
}

interface DetailParts<Data> {
  of: Answer<Data>
  /** Heading of the page where there is no answer to take one from. */
  title: string
  above?: ComponentProps<typeof PageHead>['above']
  head: (data: Data) => ComponentProps<typeof PageHead> & { facts?: readonly Fact[] }
  children: (data: Data) => ReactNode
}

/** The page of one thing: its heading and facts, and what is told of it. */
export function DetailPage<Data>({ of, title, above = [], head, children }: DetailParts<Data>) {
  const isWithout = of.data === undefined && of.error !== null
  return (
    <div className="stack">
      {isWithout && <PageHead title={title} above={above} isStill />}
      <Loaded of={of}>
        {(data) => {
          const { facts, ...parts } = head(data)
          return (
            <>
              <PageHead above={above} {...parts} />
              {facts && <Facts facts={facts} />}
              {children(data)}
            </>
          )
        }}
      </Loaded>
    </div>
  )
}

interface CardParts {
  /** Its heading, and its name for a screen reader. */
  title: string
  label?: string
  /** Beside the heading, at the end of its line. */
  beside?: ReactNode
  /** True: a part of the page without a frame, such as one with a table of its own. */
  isPlain?: boolean
  children: ReactNode
}

export function Card({ title, label = title, beside, isPlain = false, children }: CardParts) {
  return (
    <section className={isPlain ? 'stack' : 'card padded stack'} aria-label={label}>
      <div className="row">
        <h2>{title}</h2>
        {beside && <div className="row push">{beside}</div>}
      </div>
      {children}
    </section>
  )
}

/** A page whose code fails to load or to run. The navigation stays, and leads to other pages. */
export class PageFault extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (!error) return this.props.children
    return (
      <div className="stack">
        <h1>This page has failed</h1>
        <div className="problem" role="alert">
          <strong>The code of this page could not be loaded, or has failed.</strong>
          <p>{error.message}</p>
          <p className="quiet">Reload it: the app may have been updated since this tab was opened.</p>
        </div>
        <div>
          <button type="button" className="main" onClick={() => location.reload()}>
            Reload
          </button>
        </div>
      </div>
    )
  }
}
