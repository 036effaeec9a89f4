import { type FormEvent, useEffect, useState } from 'react'
import { Link } from 'wouter'
import { useFilters } from '../state/filters.ts'

/** The search of a list. It is sent with Enter and kept in the address as `q`. */
export function Find({ label, placeholder }: { label: string; placeholder: string }) {
  const filters = useFilters()
  const given = filters.read('q')
  const [text, setText] = useState(given)
  useEffect(() => setText(given), [given])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    filters.set({ q: text.trim() })
  }
  return (
    <form className="find" onSubmit={submit} aria-label={label}>
      <input
        type="search"
        data-key="/"
        aria-label={label}
        placeholder={placeholder}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
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
        <FilterLink key={value} href={filters.href(path, { [name]: value })} isOn={filters.read(name) === value}>
          {word}
        </FilterLink>
      ))}
    </nav>
  )
}

function FilterLink({ href, isOn, children }: { href: string; isOn: boolean; children: string }) {
  return (
    <Link href={href} aria-current={isOn ? 'true' : undefined}>
      {children}
    </Link>
  )
}

/** A filter with many values, such as a time range. */
export function Choice({ name, label, values }: { name: string; label: string; values: readonly [string, string][] }) {
  const filters = useFilters()
  return (
    <select
      aria-label={label}
      value={filters.read(name)}
      onChange={(event) => filters.set({ [name]: event.target.value })}
    >
      {values.map(([value, word]) => (
        <option key={value} value={value}>
          {word}
        </option>
      ))}
    </select>
  )
}

/** Ranges of time of a list. */
export const RANGES: readonly [string, string][] = [
  ['', 'any time'],
  ['1h', 'last hour'],
  ['24h', 'last 24 hours'],
  ['7d', 'last 7 days'],
  ['30d', 'last 30 days'],
]
