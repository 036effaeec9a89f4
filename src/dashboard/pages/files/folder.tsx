import { Link } from 'wouter'
import { useList } from '../../api/use-api.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Bones, Empty, ProblemNote } from '../../parts/messages.tsx'
import { Look } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { formatBytes, formatCount } from '../../words/format.ts'
import { lookOfStanding } from '../../words/states.ts'
import type { File, OneSide } from './place.ts'

/** The pages of a folder, as far as they were asked for. */
export type FolderQuery = ReturnType<typeof useList<'GET /files/:storage'>>

/** A folder is asked for again by a person only: each page costs a call of the plan. */
export function useFolder(side: OneSide): FolderQuery {
  return useList('GET /files/:storage', askOf(side), { isStill: true })
}

export function askOf({ account, storage, path }: OneSide) {
  return { params: { storage }, query: { account, path } }
}

interface FolderParts {
  folder: FolderQuery
  side: OneSide
  /** Another folder, which its entries are compared with. */
  beside?: FolderQuery
}

/** The entries of a folder, by name. A folder that could not be read is never shown as empty. */
export function Folder({ folder, side, beside }: FolderParts) {
  const { data, error, isPlaceholderData } = folder
  const entries = data?.pages.flatMap((page) => page.items) ?? []
  const total = data?.pages.at(-1)?.total ?? null
  const isKnown = data !== undefined && !(error && isPlaceholderData)
  return (
    <section className="stack" aria-label={`Folder ${side.storage}:${side.path}`}>
      {error && <ProblemNote error={error} />}
      {data === undefined && error === null && <Bones />}
      {isKnown && entries.length === 0 && <Empty title="This folder is empty." />}
      {isKnown && entries.length > 0 && (
        <>
          <DataTable
            label={`Entries of ${side.storage}:${side.path}`}
            columns={columnsOf(side, beside && markEntries(folder, beside))}
            rows={entries}
            keyOf={({ id }) => id}
            hrefOf={(entry) => hrefOfEntry(side, entry)}
            isStale={isPlaceholderData}
          />
          <div className="foot">
            <span>
              {formatCount(entries.length)}
              {total !== null && total > entries.length && ` of ${formatCount(total)}`} shown, by name
            </span>
            {folder.hasNextPage && (
              <button
                type="button"
                data-key="n"
                disabled={folder.isFetchingNextPage}
                onClick={() => void folder.fetchNextPage()}
              >
                More
              </button>
            )}
          </div>
        </>
      )}
    </section>
  )
}

function hrefOfEntry({ hrefWith }: OneSide, { type, path, id }: File): string {
  return type === 'folder' ? hrefWith({ path, file: '' }) : hrefWith({ file: id })
}

const TYPE: Column<File> = {
  title: 'Type',
  width: '190px',
  className: 'spare quiet',
  cell: ({ type, mimeType }) => mimeType ?? type,
}

/** The type gives way to the panel of a file, and to another folder. */
function columnsOf(side: OneSide, marks: Marks | undefined): Column<File>[] {
  const mark = ({ id }: File) => {
    const look = marks?.get(id)
    return look && <Look look={look} />
  }
  return [
    {
      title: 'Name',
      className: 'wide',
      cell: (entry) => (
        <Link href={hrefOfEntry(side, entry)} aria-current={entry.id === side.file ? 'true' : undefined}>
          <bdi>{entry.name}</bdi>
          {entry.type === 'folder' && <span className="quiet">/</span>}
        </Link>
      ),
    },
    ...(marks ? [{ title: 'Beside', width: '120px', cell: mark }] : side.file === '' ? [TYPE] : []),
    {
      title: 'Size',
      width: '90px',
      className: 'number',
      cell: ({ size }) => size !== null && formatBytes(size),
    },
    {
      title: 'Changed',
      width: '110px',
      ...(marks && { className: 'spare' }),
      cell: ({ modifiedAt }) => <When at={modifiedAt} />,
    },
  ]
}

/** How entries stand beside the other folder, by their ids. */
type Marks = ReadonlyMap<string, Mark>
type Mark = ReturnType<typeof lookOfStanding>

/**
 * Marks the entries of a folder by name and size. An entry has no mark while its namesake may be on
 * a page that is not shown.
 */
function markEntries(folder: FolderQuery, other: FolderQuery): Marks {
  const namesakes = Map.groupBy(listEntries(other), nameOf)
  const isWhole = other.isSuccess && !other.isPlaceholderData && !other.hasNextPage
  const marks = new Map<string, Mark>()
  for (const [name, entries] of Map.groupBy(listEntries(folder), nameOf)) {
    const [entry] = entries
    const [namesake, ...more] = namesakes.get(name) ?? []
    if (entry === undefined || entries.length > 1 || more.length > 0) continue
    if (namesake !== undefined) marks.set(entry.id, lookOfStanding(compare(entry, namesake)))
    else if (isWhole) marks.set(entry.id, lookOfStanding('only_here'))
  }
  return marks
}

function listEntries({ data, isPlaceholderData }: FolderQuery): File[] {
  return isPlaceholderData ? [] : (data?.pages.flatMap(({ items }) => items) ?? [])
}

/** An accent may be written in two ways. */
function nameOf({ name }: File): string {
  return name.normalize('NFC')
}

/** Entries of folders are on their own pages: nothing is said of them. */
function compare(one: File, other: File): 'same' | 'differs' | 'both' {
  if (one.type === 'folder' && other.type === 'folder') return 'both'
  return one.type === other.type && one.size === other.size ? 'same' : 'differs'
}
