import { useSearchParams } from 'wouter'

/** The filters of a page, kept in its address: a link shows the same, and Back goes back. */
export function useFilters(): {
  read: (name: string) => string
  /** Null or empty takes a filter away. `replace`: the browser's history gets no entry. */
  set: (changes: Record<string, string | null>, options?: { replace?: boolean }) => void
  /** The address with changes, for a link. */
  href: (path: string, changes: Record<string, string | null>) => string
} {
  const [params, setParams] = useSearchParams()
  const change = (changes: Record<string, string | null>) => {
    const next = new URLSearchParams(params)
    for (const [name, value] of Object.entries(changes)) {
      if (value) next.set(name, value)
      else next.delete(name)
    }
    return next
  }
  return {
    read: (name) => params.get(name) ?? '',
    set: (changes, options) => setParams(change(changes), options),
    href: (path, changes) => {
      const query = change(changes).toString()
      return query === '' ? path : `${path}?${query}`
    },
  }
}
