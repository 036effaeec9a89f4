import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import type { ApiError } from '../api/api-error.ts'
import { call, pageKey } from '../api/client.ts'
import { useApi } from '../api/use-api.ts'
import { ProblemNote } from '../parts/messages.tsx'
import type { Session } from '../state/session.ts'

/**
 * The page of somebody who is not logged in. It leads to the page that was asked for. `session`: of
 * somebody who opened a link while logged in, which the link replaces.
 */
export function Login({ session }: { session?: Session }) {
  return (
    <main className="login">
      <h1>Log in to Upshot</h1>
      {session && (
        <p>
          You are logged in as {session.name}, with the role {session.role}. <Link href="/">Stay so</Link>
        </p>
      )}
      <LoginForm />
    </main>
  )
}

/** Covers a page whose login has ended. The page stays as it was, with what was typed into it. */
export function LoginAgain() {
  const dialog = useRef<HTMLDialogElement>(null)
  const show = () => dialog.current?.showModal()
  useEffect(show, [])
  return (
    // The Escape key would uncover the page.
    <dialog
      ref={dialog}
      className="cover"
      aria-labelledby="again"
      onCancel={(event) => event.preventDefault()}
      onClose={show}
    >
      <div className="login">
        <h1 id="again">Your login has ended</h1>
        <p>Log in again to go on. What you typed into the page is kept.</p>
        <LoginForm />
      </div>
    </dialog>
  )
}

/** Takes the one-time code behind `#`, or one that is typed. */
function LoginForm() {
  const client = useQueryClient()
  const [code, setCode] = useState(() => (isHere() ? location.hash.slice(1) : ''))
  const [error, setError] = useState<ApiError | null>(null)
  const [isBusy, setBusy] = useState(false)
  const logIn = async (given: string) => {
    setBusy(true)
    try {
      const { key } = await call('POST /login', { body: { code: given.trim().replace(/^.*#/, '') } })
      pageKey.save(key)
      history.replaceState(null, '', findPlace())
      dispatchEvent(new PopStateEvent('popstate'))
      await renew(client)
    } catch (problem) {
      setError(problem as ApiError)
    }
    setBusy(false)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the code of the address is tried once
  useEffect(() => {
    if (code !== '') void logIn(code)
  }, [])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void logIn(code)
  }
  return (
    <>
      <SignIn />
      <p className="quiet">
        <code>upshot dashboard</code> prints a link that logs you in. It works once, for ten minutes.
      </p>
      <form className="form" onSubmit={submit}>
        <label>
          The link, or the code behind its #
          <input value={code} autoComplete="one-time-code" onChange={(event) => setCode(event.target.value)} />
        </label>
        {error && <ProblemNote error={error} />}
        <div>
          <button type="submit" className="main" disabled={isBusy || code.trim() === ''}>
            Log in
          </button>
        </div>
      </form>
    </>
  )
}

/** Asks for everything again. The answers of another person or role are dropped before. */
async function renew(client: QueryClient): Promise<void> {
  const session = ['GET /session', {}]
  const whose = () => {
    const { name, role } = client.getQueryData<Session>(session) ?? {}
    return `${role} ${name}`
  }
  const before = whose()
  await client.refetchQueries({ queryKey: session })
  if (whose() === before) await client.invalidateQueries()
  else await client.resetQueries()
}

const PLACE = 'upshot.place'

/** Whether the address is that of this page. */
const isHere = () => location.pathname.endsWith('/login')

/** Keeps the address of the page that was asked for over a sign-in elsewhere. */
const keepPlace = () => isHere() || sessionStorage.setItem(PLACE, location.href)

/** The page that was asked for. */
function findPlace(): string {
  const kept = sessionStorage.getItem(PLACE)
  sessionStorage.removeItem(PLACE)
  return isHere() ? (kept ?? document.baseURI) : location.href
}

/** Sign-in by the provider of the installation, where it has one. */
function SignIn() {
  const login = useApi('GET /login', {})
  const fault = new URLSearchParams(location.search).get('fault')
  const provider = login.data?.provider
  if (!provider) return null
  return (
    <div className="stack">
      {fault !== null && (
        <p className="problem" role="alert">
          {FAULTS[fault] ?? FAULTS.failed}
        </p>
      )}
      <div>
        <a className="button main" href="oidc/start" onClick={keepPlace}>
          Sign in with {provider}
        </a>
      </div>
      <p className="quiet">Or with a code:</p>
    </div>
  )
}

const FAULTS: Record<string, string> = {
  'no-role': 'You are signed in there, but none of your groups may use Upshot. Ask the person who runs it.',
  failed: 'The sign-in did not succeed. Try it again; the log of Upshot says what went wrong.',
}
