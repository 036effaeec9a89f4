import { Link } from 'wouter'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Bones, Empty, ProblemNote } from '../../parts/messages.tsx'
import { Look } from '../../parts/status.tsx'
import { When } from '../../parts/when.tsx'
import { formatBytes, formatCount } from '../../words/format.ts'
import type { Marks } from './mark-entries.ts'
import type { File, OneSide } from './place.ts'
import type { FolderQuery } from './use-folder.ts'

interface FolderParts {
  folder: FolderQuery
  side: OneSide
  /** How its entries stand beside another folder; null where there is none. */
  marks: Marks | null
}

/** The entries of a folder, by name. A folder that could not be read is never shown as empty. */
export function Folder({ folder, side, marks }: FolderParts) {
  const { data, error, isPlaceholderData } = folder
  const entries = data?.pages.flatMap((page) => page.items) ?? []
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
            columns={columnsOf(side, marks)}
            rows={entries}
            keyOf={({ id }) => id}
            hrefOf={(entry) => hrefOfEntry(side, entry)}
            isStale={isPlaceholderData}
          />
          <Foot folder={folder} shown={entries.length} />
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
  className: 'spare',
  cell: ({ type, mimeType }) => <span className="quiet">{mimeType ?? type}</span>,
}

function markColumn(marks: Marks): Column<File> {
  return {
    title: 'Beside',
    width: '120px',
    cell: ({ id }) => {
      const look = marks.get(id)
      return look && <Look look={look} />
    },
  }
}

/** The type gives way to the panel of a file, and to another folder. */
function columnsOf(side: OneSide, marks: Marks | null): Column<File>[] {
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
    ...(marks !== null ? [markColumn(marks)] : side.file === '' ? [TYPE] : []),
    {
      title: 'Size',
      width: '90px',
      className: 'number',
      cell: ({ size }) => (size === null ? null : formatBytes(size)),
    },
    {
      title: 'Changed',
      width: '110px',
      ...(marks && { className: 'spare' }),
      cell: ({ modifiedAt }) => <When at={modifiedAt} />,
    },
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
