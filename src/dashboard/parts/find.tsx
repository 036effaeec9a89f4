import { type FormEvent, useEffect, useId, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { useFilters } from '../state/filters.ts'
import { useSearches } from '../state/settings.ts'
import { completeFilter } from '../words/complete-filter.ts'
import { localOf } from '../words/format.ts'

export interface SearchParts {
  label: string
  placeholder: string
  /** Filters with the values that are offered as one types; none where any text is one. */
  filters?: Readonly<Record<string, readonly string[]>>
  given: string
  submit: (text: string) => void
}

/** A field for words, which are sent with Enter. */
export function Search({ label, placeholder, filters = {}, given, submit }: SearchParts) {
  const [text, setText] = useState(given)
  const list = useId()
  useEffect(() => setText(given), [given])
  const send = (event: FormEvent) => {
    event.preventDefault()
    submit(text.trim())
  }
  return (
    <form className="find grow" onSubmit={send} aria-label={label}>
      <input
        type="search"
        data-key="/"
        aria-label={label}
        placeholder={placeholder}
        value={text}
        list={list}
        onChange={(event) => setText(event.target.value)}
      />
      <datalist id={list}>
        {completeFilter(text, filters).map((whole) => (
          <option key={whole} value={whole} />
        ))}
      </datalist>
      <kbd>/</kbd>
    </form>
  )
}

/** Values of one filter side by side; the first is "all". */
export function Tabs({ path, name, values }: { path: string; name: string; values: readonly [string, string][] }) {
  const filters = useFilters()
  return (
    <nav className="tabs" aria-label={`Filter by ${name}`}>
      {values.map(([value, word]) => (
        <Link
          key={value}
          href={filters.href(path, { [name]: value })}
          aria-current={filters.read(name) === value ? 'true' : undefined}
        >
          {word}
        </Link>
      ))}
    </nav>
  )
}

interface ChoiceParts {
  label: string
  value: string
  values: readonly (readonly [string, string])[]
  set: (value: string) => void
}

/** A value of the address that is none of the choices is shown as it is. */
export function Choice({ label, value, values, set }: ChoiceParts) {
  const isKnown = values.some(([each]) => each === value)
  return (
    <select aria-label={label} value={value} onChange={(event) => set(event.target.value)}>
      {(isKnown ? values : [...values, [value, value] as const]).map(([each, word]) => (
        <option key={each} value={each}>
          {word}
        </option>
      ))}
    </select>
  )
}

const RANGES = [
  ['1h', 'last hour'],
  ['24h', 'last 24 hours'],
  ['7d', 'last 7 days'],
  ['30d', 'last 30 days'],
] as const
const BETWEEN = 'between'
/** Each digit of a moment is a change, and none is a page to go back to. */
const AS_TYPED = { replace: true }

/** A range of time of a list, in the address as `since` and `until`. `usual`: what none means. */
export function Range({ usual = 'any time', hasEnd }: { usual?: string | undefined; hasEnd: boolean }) {
  const { read, set } = useFilters()
  const [since, until] = [read('since'), read('until')]
  const isBetween = since.includes('T') || until !== ''
  const choose = (value: string) => {
    const from = new Date(Date.now() - 86_400_000).toISOString()
    set(value === BETWEEN ? { since: from, until: new Date().toISOString() } : { since: value, until: null })
  }
  const shown = RANGES.filter(([, words]) => words !== usual)
  const values = [['', usual], ...shown, ...(hasEnd || isBetween ? [[BETWEEN, 'from … to …'] as const] : [])] as const
  return (
    <>
      <Choice label="Range of time" value={isBetween ? BETWEEN : since} values={values} set={choose} />
      {isBetween && <Moment label="From" value={since} set={(moment) => set({ since: moment }, AS_TYPED)} />}
      {isBetween && <Moment label="To" value={until} set={(moment) => set({ until: moment }, AS_TYPED)} />}
    </>
  )
}

function Moment({ label, value, set }: { label: string; value: string; set: (moment: string | null) => void }) {
  const change = (text: string) => set(text === '' ? null : new Date(text).toISOString())
  return (
    <span>
      <input
        type="datetime-local"
        aria-label={label}
        value={value.includes('T') ? localOf(value) : ''}
        onChange={(event) => change(event.target.value)}
      />
    </span>
  )
}

/** The searches of a page that this browser keeps under names, and a name for the present one. */
export function SavedSearches({ path, isFiltered }: { path: string; isFiltered: boolean }) {
  const id = useId()
  const [, go] = useLocation()
  const { searches, save } = useSearches(path)
  const [name, setName] = useState('')
  if (searches.length === 0 && !isFiltered) return null
  const keep = (event: FormEvent) => {
    event.preventDefault()
    save([...searches.filter((search) => search.name !== name.trim()), { name: name.trim(), query: location.search }])
    setName('')
  }
  return (
    <span className="menu">
      <button type="button" className="plain" popoverTarget={id}>
        Searches
      </button>
      <div id={id} popover="auto">
        <ul aria-label="Saved searches">
          {searches.map((search) => (
            <li key={search.name} className="row">
              <button type="button" className="plain grow" onClick={() => go(`${path}${search.query}`)}>
                {search.name}
              </button>
              <button
                type="button"
                className="plain"
                aria-label={`Forget ${search.name}`}
                onClick={() => save(searches.filter((each) => each !== search))}
              >
                ✕
              </button>
            </li>
          ))}
        </ul>
        {isFiltered && (
          <form className="row" onSubmit={keep}>
            <input
              required
              aria-label="Name of this search"
              placeholder="Name of this search"
              maxLength={60}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
            <button type="submit">Save it</button>
          </form>
        )}
      </div>
    </span>
  )
}
