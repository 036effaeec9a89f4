import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { type ApiError, call, pageKey } from '../api/client.ts'
import { useApi } from '../api/use-api.ts'
import { ProblemNote } from '../parts/messages.tsx'

/** Takes the one-time code behind `#`, or one that is typed. */
export function Login() {
  const client = useQueryClient()
  const [code, setCode] = useState(() => location.hash.slice(1))
  const [error, setError] = useState<ApiError | null>(null)
  const logIn = async (given: string) => {
    try {
      const { key } = await call('POST /login', { body: { code: given.trim() } })
      pageKey.save(key)
      history.replaceState(null, '', document.baseURI)
      dispatchEvent(new PopStateEvent('popstate'))
      await client.resetQueries()
    } catch (problem) {
      setError(problem as ApiError)
    }
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
    <main className="login">
      <h1>Log in to Upshot</h1>
      <SignIn />
      <p className="quiet">
        <code>upshot dashboard</code> prints a link that logs you in. It works once, for ten minutes.
      </p>
      <form className="form" onSubmit={submit}>
        <label>
          Code of the link
          <input value={code} autoComplete="one-time-code" onChange={(event) => setCode(event.target.value)} />
        </label>
        {error && <ProblemNote error={error} />}
        <div>
          <button type="submit" className="main" disabled={code.trim() === ''}>
            Log in
          </button>
        </div>
      </form>
    </main>
  )
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
        <a className="button main" href="oidc/start">
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
