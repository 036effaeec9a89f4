import { useSearchParams } from 'wouter'

/** The filters of a page, kept in its address: a link shows the same, and Back goes back. */
export function useFilters(): {
  read: (name: string) => string
  /** Null or empty takes a filter away. */
  set: (changes: Record<string, string | null>) => void
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
    set: (changes) => setParams(change(changes)),
    href: (path, changes) => {
      const query = change(changes).toString()
      return query === '' ? path : `${path}?${query}`
    },
  }
}
