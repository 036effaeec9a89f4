import type { ReactNode } from 'react'
import type { ApiError } from '../api/api-error.ts'
import { When } from './when.tsx'

/** An error of the API: what happened, and what to do next. The rest of the page stays. */
export function ProblemNote({ error }: { error: ApiError }) {
  const { title, detail, fix, errors, retryAt } = error.problem
  return (
    <div className="problem" role="alert">
      <strong>{title}</strong>
      <p>{detail}</p>
      {errors && (
        <ul>
          {errors.map(({ at, fault }) => (
            <li key={at}>
              <code>{at}</code> {fault}
            </li>
          ))}
        </ul>
      )}
      {fix && <p className="quiet">{fix}</p>}
      {retryAt && (
        <p className="quiet">
          The next try may come <When at={retryAt} />.
        </p>
      )}
    </div>
  )
}

/** An empty part: that nothing is there, why, and the way to the first one. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <strong>{title}</strong>
      {children}
    </div>
  )
}

/** The shape of a list that is being loaded. */
export function Bones({ lines = 8 }: { lines?: number }) {
  return (
    <div className="card" aria-busy="true">
      <span className="unseen">Loading</span>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines have nothing else
        <div className="bone" key={line} />
      ))}
    </div>
  )
}

export interface Answer<Data> {
  data: Data | undefined
  error: ApiError | null
  isPending: boolean
}

interface LoadedParts<Data> {
  of: Answer<Data>
  /** Lines of the bones, about as tall as the answer. */
  lines?: number
  children: (data: Data) => ReactNode
}

/** The problem, the bones, or the answer. An old answer stays on the page below a new problem. */
export function Loaded<Data>({ of, lines, children }: LoadedParts<Data>) {
  return (
    <>
      {of.error && <ProblemNote error={of.error} />}
      {of.data !== undefined ? children(of.data) : of.isPending && <Bones {...(lines !== undefined && { lines })} />}
    </>
  )
}
