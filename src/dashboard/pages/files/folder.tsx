import { Link } from 'wouter'
import type { useList } from '../../api/use-api.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Bones, Empty, ProblemNote } from '../../parts/messages.tsx'
import { When } from '../../parts/when.tsx'
import { formatBytes, formatCount } from '../../words/format.ts'
import { type File, hrefOf, type Place } from './place.ts'

type FolderQuery = ReturnType<typeof useList<'GET /files/:storage'>>

/** The entries of a folder, by name. A folder that could not be read is never shown as empty. */
export function Folder({ folder, place }: { folder: FolderQuery; place: Place }) {
  const { data, error, isPlaceholderData } = folder
  const entries = data?.pages.flatMap((page) => page.items) ?? []
  const isKnown = data !== undefined && !(error && isPlaceholderData)
  return (
    <section className="stack" aria-label="Folder">
      {error && <ProblemNote error={error} />}
      {data === undefined && error === null && <Bones />}
      {isKnown && entries.length === 0 && <Empty title="This folder is empty." />}
      {isKnown && entries.length > 0 && (
        <>
          <DataTable
            label={`Entries of ${place.storage}:${place.path}`}
            columns={columnsOf(place)}
            rows={entries}
            keyOf={({ id }) => id}
            hrefOf={(entry) => hrefOfEntry(place, entry)}
            isStale={isPlaceholderData}
          />
          <Foot folder={folder} shown={entries.length} />
        </>
      )}
    </section>
  )
}

function hrefOfEntry(place: Place, { type, path, id }: File): string {
  return type === 'folder' ? hrefOf({ ...place, path, file: '' }) : hrefOf({ ...place, file: id })
}

const TYPE: Column<File> = {
  title: 'Type',
  width: '190px',
  className: 'spare',
  cell: ({ type, mimeType }) => <span className="quiet">{mimeType ?? type}</span>,
}

/** The type gives way to the panel of a file. */
function columnsOf(place: Place): Column<File>[] {
  return [
    {
      title: 'Name',
      className: 'wide',
      cell: (entry) => (
        <Link href={hrefOfEntry(place, entry)} aria-current={entry.id === place.file ? 'true' : undefined}>
          <bdi>{entry.name}</bdi>
          {entry.type === 'folder' && <span className="quiet">/</span>}
        </Link>
      ),
    },
    ...(place.file === '' ? [TYPE] : []),
    {
      title: 'Size',
      width: '90px',
      className: 'number',
      cell: ({ size }) => (size === null ? null : formatBytes(size)),
    },
    { title: 'Changed', width: '110px', cell: ({ modifiedAt }) => <When at={modifiedAt} /> },
  ]
}

function Foot({ folder, shown }: { folder: FolderQuery; shown: number }) {
  const total = folder.data?.pages.at(-1)?.total ?? null
  return (
    <div className="foot">
      <span>
        {formatCount(shown)}
        {total !== null && total > shown && ` of ${formatCount(total)}`} shown, by name
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
  )
}
