import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { shortId } from '../words/format.ts'
import { type Look as Looks, lookOf } from '../words/states.ts'

export const hrefOfRun = ({ id }: { id: string }) => `/runs/${id}`
/** Several accounts may have an event of this id. `page`: one below that of the event. */
export function hrefOfEvent({ id, account }: { id: string; account?: string | null | undefined }, page = ''): string {
  const query = account == null ? '' : `?account=${encodeURIComponent(account)}`
  return `/events/${encodeURIComponent(id)}${page}${query}`
}
export const hrefOfWorkflow = (id: string) => `/workflows/${encodeURIComponent(id)}`
/** The address of the history of a file, a path or a transfer. */
export const historyOf = (subject: string) => `/history?of=${encodeURIComponent(subject)}`

/** A path, or a path and the one it went to; the front is cut, because the name is what differs. */
export function Path({ text }: { text: string | null }) {
  if (text === null) return null
  return (
    <span className="path" title={text}>
      <bdi>{text}</bdi>
    </span>
  )
}

export function RunLink({ run }: { run: { id: string; workflow: string | null } }) {
  return (
    <Link href={hrefOfRun(run)}>
      {run.workflow ?? 'a run'} <span className="mono quiet">{shortId(run.id)}</span>
    </Link>
  )
}

export function EventLink({ event }: { event: { id: string; account: string; type: string } }) {
  return (
    <Link href={hrefOfEvent(event)}>
      {event.type} <span className="mono quiet">{shortId(event.id)}</span>
    </Link>
  )
}

export function WorkflowLink({ id }: { id: string }) {
  return <Link href={hrefOfWorkflow(id)}>{id}</Link>
}

/** The tags of a run; each leads to the runs that have it. */
export function RunTags({ tags, isLinked = false }: { tags: Readonly<Record<string, string>>; isLinked?: boolean }) {
  const names = Object.keys(tags).toSorted()
  if (names.length === 0) return null
  return (
    <span className="tags">
      {names.map((name) => {
        const text = `${name}=${tags[name]}`
        return isLinked ? (
          <Link className="tag" key={name} href={`/runs?q=${encodeURIComponent(`tag:"${text}"`)}`}>
            {text}
          </Link>
        ) : (
          <span className="tag" key={name} title={text}>
            {text}
          </span>
        )
      })}
    </span>
  )
}

/** A word of a fact and its value; null is left out. */
export type Fact = readonly [string, ReactNode] | null | false

export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className="facts">
      {facts.map(
        (fact) =>
          fact && (
            <div key={fact[0]}>
              <dt>{fact[0]}</dt>
              <dd className="wrap">{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

/** A run's or step's status. */
export function Status({ of: { status, needsPerson = false } }: { of: { status: string; needsPerson?: boolean } }) {
  return <Look look={lookOf(status, needsPerson)} />
}

/** A state: colour, glyph and word. `about`: what a mouse over it tells. */
export function Look({ look: { state, glyph, word }, about }: { look: Looks; about?: string | null }) {
  return (
    <span className="status" data-state={state} title={about ?? undefined}>
      <span aria-hidden="true">{glyph}</span>
      {word}
    </span>
  )
}
