import type { ReactNode } from 'react'
import type { ApiError } from '../api/client.ts'
import { formatCount } from '../words/format.ts'
import { Bones, ProblemNote } from './messages.tsx'
import { Moment } from './when.tsx'

interface Searched {
  from: string | null
  rows: number
  isComplete: boolean
  ms: number
}

interface ListQuery<Item> {
  data: { pages: { items: readonly Item[]; searched: Searched }[] } | undefined
  error: ApiError | null
  isPending: boolean
  hasNextPage: boolean
  isFetchingNextPage: boolean
  fetchNextPage: () => unknown
}

/** A list of pages: its rows, how far it looked, and the way further back. */
export function List<Item>({
  of,
  empty,
  children,
}: {
  of: ListQuery<Item>
  empty: ReactNode
  children: (items: Item[]) => ReactNode
}) {
  const items = of.data?.pages.flatMap((page) => [...page.items]) ?? []
  return (
    <>
      {of.error && <ProblemNote error={of.error} />}
      {of.data === undefined && of.isPending && <Bones />}
      {items.length > 0 && children(items)}
      {of.data !== undefined && items.length === 0 && !of.hasNextPage && empty}
      {of.data !== undefined && (items.length > 0 || of.hasNextPage) && <Foot of={of} shown={items.length} />}
    </>
  )
}

function Foot<Item>({ of, shown }: { of: ListQuery<Item>; shown: number }) {
  const searched = of.data?.pages.map((page) => page.searched) ?? []
  const rows = searched.reduce((sum, each) => sum + each.rows, 0)
  const last = searched.at(-1)
  return (
    <div className="foot">
      <span>
        {formatCount(shown)} shown
        {rows > shown && last?.from && (
          <>
            {' '}
            of {formatCount(rows)} looked at, back to <Moment at={last.from} />
          </>
        )}
      </span>
      {of.hasNextPage && (
        <button type="button" data-key="n" disabled={of.isFetchingNextPage} onClick={() => of.fetchNextPage()}>
          {last && !last.isComplete && rows > shown ? 'Look further back' : 'Older'}
        </button>
      )}
    </div>
  )
}
