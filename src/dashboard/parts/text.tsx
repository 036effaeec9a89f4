import { Link } from 'wouter'
import { shortId } from '../words/format.ts'

/** A path, or a path and the one it went to; the front is cut, because the name is what differs. */
export function Path({ text }: { text: string | null }) {
  if (text === null) return null
  return (
    <span className="path" title={text}>
      <bdi>{text}</bdi>
    </span>
  )
}

/** A link to a run: its workflow and the end of its id. */
export function RunLink({ run: { id, workflow } }: { run: { id: string; workflow: string } }) {
  return (
    <Link href={`/runs/${id}`}>
      {workflow} <span className="mono quiet">{shortId(id)}</span>
    </Link>
  )
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

/** Pairs of a word and a value. */
export function Facts({ facts }: { facts: readonly (readonly [string, React.ReactNode] | null)[] }) {
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
