import type { UseQueryResult } from '@tanstack/react-query'
import { type MouseEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { ApiError } from '../api/api-error.ts'
import { call, pageKey } from '../api/client.ts'
import { FeedContext, useLiveFeed } from '../api/live.ts'
import { useApi } from '../api/use-api.ts'
import { ProblemNote } from '../parts/messages.tsx'
import { Dialogs } from '../state/dialogs.tsx'
import { type Session, SessionContext } from '../state/session.ts'
import { useTheme, useZone } from '../state/settings.ts'
import { Toasts } from '../state/toasts.tsx'
import { KeyHelp, useHelp, useKeys } from './keys.tsx'
import { Login, LoginAgain } from './login.tsx'
import { Palette } from './palette.tsx'
import { PLACES } from './places.ts'

/** How often a page without a session asks for one. */
const RETRY_MS = 5_000

/** The frame of every page, once somebody is logged in. A login that ends leaves the page below. */
export function Shell({ children }: { children: ReactNode }) {
  const session = useApi('GET /session', {})
  const { data, error, refetch } = session
  useEffect(() => pageKey.watch(() => void refetch()), [refetch])
  const [path] = useLocation()
  // That of the link which opened the page: the skip link has one, too.
  const [code] = useState(() => location.hash)
  const isOut = error?.problem.status === 401
  if (isOut && (!data || pageKey.read() === null)) return <Login />
  if (!data) return error ? <Silence session={session} /> : <main className="login" aria-busy="true" />
  if (path === '/login' && code !== '') return <Login session={data} />
  return (
    <SessionContext value={data}>
      <Toasts>
        {/* Another person or role begins with nothing of the page of the one before. */}
        <Frame key={`${data.role} ${data.name}`} session={data} isOut={isOut}>
          {children}
        </Frame>
      </Toasts>
      {isOut && <LoginAgain />}
    </SessionContext>
  )
}

/** The app gives no session: the page asks again until it does. */
function Silence({ session: { error, refetch } }: { session: UseQueryResult<Session, ApiError> }) {
  useEffect(() => {
    const timer = setInterval(() => void refetch(), RETRY_MS)
    return () => clearInterval(timer)
  }, [refetch])
  return (
    <main className="login">
      <h1>Upshot does not answer</h1>
      {error && <ProblemNote error={error} />}
      <p className="quiet">This page asks again every five seconds.</p>
      <div>
        <button type="button" className="main" onClick={() => void refetch()}>
          Ask now
        </button>
      </div>
    </main>
  )
}

/** The address alone would lead to the first page, as it is below the base of all. */
function skip(event: MouseEvent): void {
  event.preventDefault()
  document.getElementById('content')?.focus()
}

function Frame({ session, isOut, children }: { session: Session; isOut: boolean; children: ReactNode }) {
  const { open, close, actions } = useHelp()
  const feed = useLiveFeed(isOut)
  useKeys(actions)
  return (
    <FeedContext value={feed}>
      <div className="shell">
        {/* biome-ignore lint/a11y/useValidAnchor: it leads to a place of the page */}
        <a className="skip" href="#content" onClick={skip}>
          Skip to the content
        </a>
        <Banner session={session} />
        <Side session={session} openHelp={actions.help} />
        <Dialogs>
          <Content>{children}</Content>
        </Dialogs>
      </div>
      {open === 'help' && <KeyHelp onClose={close} />}
      {open === 'palette' && <Palette onClose={close} />}
    </FeedContext>
  )
}

/** Says where nothing acts for real; the sandbox has pages of its own. */
function Banner({ session: { effects, isSandbox, sandboxUrl } }: { session: Session }) {
  if (effects === 'plan') {
    return <p className="banner">Nothing acts here: runs are only planned (UPSHOT_EFFECTS=plan).</p>
  }
  if (!isSandbox) return null
  return (
    <p className="banner">
      Sandbox: no real storage is touched. {sandboxUrl && <a href={sandboxUrl}>Open its account page</a>}
    </p>
  )
}

/** Whether the browser goes back or forward now. The router listens later, and so hears of it later. */
let isWalking = false
addEventListener('popstate', () => {
  isWalking = true
  setTimeout(() => {
    isWalking = false
  })
})

/**
 * Focus goes to the content with each new page, so that a screen reader begins there. On the way
 * back it goes to the row that one came from, and the browser scrolls as it was.
 */
function Content({ children }: { children: ReactNode }) {
  const [location] = useLocation()
  const main = useRef<HTMLElement>(null)
  const before = useRef<string | null>(null)
  // Until the page that comes has a title, it has not that of the one before.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs with each new address
  useLayoutEffect(() => {
    document.title = 'Upshot'
  }, [location])
  useEffect(() => {
    const from = before.current
    before.current = location
    if (from === null) return
    const row = isWalking ? findRow(from) : null
    ;(row ?? main.current)?.focus({ preventScroll: true })
    if (!isWalking) scrollTo(0, 0)
  }, [location])
  return (
    <main id="content" ref={main} tabIndex={-1}>
      {children}
    </main>
  )
}

/** The row of a list that leads to a page. */
function findRow(page: string): HTMLElement | null | undefined {
  const links = [...document.querySelectorAll('[data-row] a')]
  return links.find((link) => link.getAttribute('href')?.endsWith(page))?.closest<HTMLElement>('[data-row]')
}

function Side({ session, openHelp }: { session: Session; openHelp: () => void }) {
  const [location] = useLocation()
  const { theme, next: nextTheme } = useTheme()
  const { isUtc, next: nextZone } = useZone()
  const nav = useRef<HTMLElement>(null)
  // On a phone the navigation scrolls sideways, and the page that is open may be outside of it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs with each new address
  useEffect(() => {
    const here = nav.current?.querySelector<HTMLElement>('[aria-current]')
    if (here && nav.current) nav.current.scrollLeft = here.offsetLeft - nav.current.clientWidth / 2
  }, [location])
  const isHere = (href: string) => (href === '/' ? location === '/' : location.startsWith(href))
  return (
    <div className="side">
      <Link href="/" className="brand">
        <img src="./mark.svg" alt="" />
        Upshot
      </Link>
      <nav aria-label="Pages" ref={nav}>
        {PLACES.map((group) => (
          <ul key={group[0]?.href}>
            {group.map(({ href, title }) => (
              <li key={href}>
                <Link href={href} aria-current={isHere(href) ? 'page' : undefined}>
                  {title}
                </Link>
              </li>
            ))}
          </ul>
        ))}
      </nav>
      <div className="tools">
        <button type="button" className="plain" onClick={nextZone}>
          Times: {isUtc ? 'UTC' : 'local'}
        </button>
        <button type="button" className="plain" onClick={nextTheme}>
          Theme: {theme}
        </button>
        <button type="button" className="plain" onClick={openHelp}>
          Keys <kbd>?</kbd>
        </button>
        <LogOut session={session} />
      </div>
    </div>
  )
}

function LogOut({ session }: { session: Session }) {
  const logOut = async () => {
    await call('POST /logout', {}).catch(() => {})
    pageKey.drop()
    location.reload()
  }
  return (
    <button type="button" className="plain" onClick={logOut} title={`${session.name}, ${session.role}`}>
      Log out
    </button>
  )
}
