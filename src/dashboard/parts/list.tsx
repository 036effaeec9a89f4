import type { ReactNode } from 'react'
import { useLocation } from 'wouter'
import type { AnswerOf, InputOf } from '../../admin/contract/routes.ts'
import type { ApiError } from '../api/api-error.ts'
import { type ListName, useList } from '../api/use-api.ts'
import { useFilters } from '../state/filters.ts'
import { formatCount } from '../words/format.ts'
import { CopyAs } from './copy-as.tsx'
import { DataTable, type TableParts } from './data-table.tsx'
import { Choice, Range, SavedSearches, Search, type SearchParts, Tabs } from './find.tsx'
import { Bones, Empty, ProblemNote } from './messages.tsx'
import { PageHead } from './page.tsx'
import { Moment } from './when.tsx'

type ItemOf<Name extends ListName> = AnswerOf<Name> extends { items: readonly (infer Item)[] } ? Item : never

interface Searched {
  from: string | null
  rows: number
  isComplete: boolean
}

interface ListQuery<Item> {
  data: { pages: { items: readonly Item[]; searched?: Searched }[] } | undefined
  error: ApiError | null
  isPending: boolean
  hasNextPage: boolean
  isFetchingNextPage: boolean
  fetchNextPage: () => unknown
}

interface ListParts<Item> {
  of: ListQuery<Item>
  empty: ReactNode
  /** The word on the button for the next page. */
  more?: string
  children: (items: Item[]) => ReactNode
}

/** A list of pages: its rows, how far it looked, and the way further back. */
export function List<Item>({ of, empty, more = 'Older', children }: ListParts<Item>) {
  const items = of.data?.pages.flatMap((page) => [...page.items]) ?? []
  return (
    <>
      {of.error && <ProblemNote error={of.error} />}
      {of.data === undefined && of.isPending && <Bones />}
      {items.length > 0 && children(items)}
      {of.data !== undefined && items.length === 0 && !of.hasNextPage && empty}
      {of.data !== undefined && (items.length > 0 || of.hasNextPage) && (
        <Foot of={of} shown={items.length} more={more} />
      )}
    </>
  )
}

function Foot<Item>({ of, shown, more }: { of: ListQuery<Item>; shown: number; more: string }) {
  const searched = of.data?.pages.map((page) => page.searched) ?? []
  const rows = searched.reduce((sum, each) => sum + (each?.rows ?? 0), 0)
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
          {last && !last.isComplete && rows > shown ? 'Look further back' : more}
        </button>
      )}
    </div>
  )
}

interface ListTableParts<Name extends ListName> extends Omit<TableParts<ItemOf<Name>>, 'rows' | 'isStale'> {
  of: Name
  query?: Record<string, unknown>
  empty: ReactNode
  /** Below a list of unknown length, so that nothing jumps when it comes. */
  children?: ReactNode
}

export function ListTable<Name extends ListName>({ of, query = {}, empty, children, ...table }: ListTableParts<Name>) {
  const list = useList(of, { query }) as unknown as ListQuery<ItemOf<Name>> & { isPlaceholderData: boolean }
  return (
    <>
      <List of={list} empty={empty}>
        {(items) => <DataTable {...table} rows={items} isStale={list.isPlaceholderData} />}
      </List>
      {!list.isPending && children}
    </>
  )
}

type Read = (name: string) => string

interface ListPageParts<Name extends ListName> extends Omit<ListTableParts<Name>, 'query'> {
  title: string
  /** One of its things, in words; default: by its title. */
  noun?: string
  path: string
  /** Names of the filters in the address. */
  filters: readonly string[]
  /** The query of these filters; default: each as it is. */
  queryOf?: (read: Read) => Record<string, unknown>
  cli: (query: Record<string, unknown>) => string
  /** The search of the list, and the filter that it sets; default `q`. */
  find?: { name?: string } & Pick<SearchParts, 'label' | 'placeholder' | 'filters'>
  choices?: readonly { name: string; label: string; values: readonly (readonly [string, string])[] }[]
  /** A range of time, with an end or without. `usual`: what none means. */
  range?: { usual?: string; hasEnd: boolean }
  tabs?: { name: string; values: readonly [string, string][] }
  /** Buttons of the page, by what is asked for and whether a filter is set. */
  actions?: (query: Record<string, unknown>, isFiltered: boolean) => ReactNode
  above?: ReactNode
}

/** A page with one list: its filters, which are in the address, its table and what it does. */
export function ListPage<Name extends ListName>(parts: ListPageParts<Name>) {
  const {
    title,
    noun = title.toLowerCase().replace(/s$/, ''),
    path,
    filters,
    queryOf,
    cli,
    find,
    choices = [],
    range,
    tabs,
    actions,
    above,
    ...table
  } = parts
  const { read, set } = useFilters()
  const [, go] = useLocation()
  const query = queryOf?.(read) ?? Object.fromEntries(filters.map((name) => [name, read(name)]))
  const isFiltered = filters.some((name) => read(name) !== '')
  const { name = 'q' } = find ?? {}
  return (
    <div className="stack">
      <PageHead title={title}>
        {actions?.(query, isFiltered)}
        <SavedSearches path={path} isFiltered={isFiltered} />
        <CopyAs cli={cli(query)} to={table.of} input={{ query } as unknown as InputOf<Name>} />
      </PageHead>
      {(find || range || choices.length > 0) && (
        <div className="row">
          {find && <Search {...find} given={read(name)} submit={(text) => set({ [name]: text })} />}
          {choices.map((choice) => (
            <Choice
              key={choice.name}
              {...choice}
              value={read(choice.name)}
              set={(value) => set({ [choice.name]: value })}
            />
          ))}
          {range && <Range {...range} />}
        </div>
      )}
      {tabs && <Tabs path={path} {...tabs} />}
      {above}
      <ListTable
        {...(table as ListTableParts<Name>)}
        query={query}
        empty={isFiltered ? <NothingFits noun={noun} clear={() => go(path)} /> : table.empty}
      />
    </div>
  )
}

function NothingFits({ noun, clear }: { noun: string; clear: () => void }) {
  return (
    <Empty title={`No ${noun} fits these filters.`}>
      <button type="button" onClick={clear}>
        Clear the filters
      </button>
    </Empty>
  )
}
