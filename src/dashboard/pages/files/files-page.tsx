import { Link, useLocation } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useApi, useList } from '../../api/use-api.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Choice, Search } from '../../parts/find.tsx'
import { List } from '../../parts/list.tsx'
import { Empty } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page.tsx'
import { When } from '../../parts/when.tsx'
import { useFilters } from '../../state/filters.ts'
import { useMay } from '../../state/session.ts'
import { formatBytes, STORAGES, shellWord } from '../../words/format.ts'
import { FilePanel } from './file-panel.tsx'

type File = AnswerOf<'GET /files/:storage'>['items'][number]

/** The files of the service, a folder at a time, asked of its Files API. */
export default function Files() {
  const mayLook = useMay('operator')
  if (mayLook) return <Folder />
  return (
    <div className="stack">
      <PageHead title="Files" />
      <Empty title="Names of files are payload.">
        <p>A viewer does not see them. They need the role operator.</p>
      </Empty>
    </div>
  )
}

/** The folder and the file that the address names, and the address with others. */
function usePlace() {
  const { read, href } = useFilters()
  const hrefWith = (changes: { storage?: string; path?: string; file: string }) => href('/files', changes)
  const [account, storage, path] = [read('account') || 'default', read('storage') || STORAGES[0], read('path') || '/']
  return { account, storage, path, file: read('file'), hrefWith }
}

/** A folder, with the panel of a file beside it. It is asked for again by a person only. */
function Folder() {
  const { account, storage, path, file, hrefWith } = usePlace()
  const [, go] = useLocation()
  const input = { params: { storage }, query: { account, path } }
  const folder = useList('GET /files/:storage', input, { isStill: true })
  const open = (text: string) => go(hrefWith({ path: `/${text.replace(/^\/+|\/+$/g, '')}`, file: '' }))
  const hrefOf = ({ type, path: below, id }: File) =>
    type === 'folder' ? hrefWith({ path: below, file: '' }) : hrefWith({ file: id })
  // A folder that could not be read is never shown as the one before it.
  const { data, error, isPlaceholderData } = folder
  const known = error !== null && isPlaceholderData ? undefined : data
  return (
    <div className="stack">
      <PageHead title="Files" isStill>
        <button type="button" onClick={() => void folder.refetch()} disabled={folder.isFetching}>
          Read again
        </button>
        <CopyAs cli={`upshot files ls ${shellWord(`${storage}:${path}`)}`} to="GET /files/:storage" input={input} />
      </PageHead>
      <div className="row">
        <nav className="tabs" aria-label="Storages">
          {STORAGES.map((each) => (
            <Link
              key={each}
              href={hrefWith({ storage: each, path: '/', file: '' })}
              aria-current={each === storage ? 'true' : undefined}
            >
              {each}
            </Link>
          ))}
        </nav>
        <AccountChoice account={account} />
        <Search label="Folder" placeholder="/reports/2026" given={path} submit={open} />
      </div>
      <nav aria-label="Folders above" className="crumbs wrap">
        <Link href={hrefWith({ path: '/', file: '' })}>{storage}</Link>
        {listFolders(path).map((each) => (
          <span key={each.path}>
            {' / '}
            <Link href={hrefWith({ path: each.path, file: '' })} aria-current={each.path === path ? 'page' : undefined}>
              <bdi>{each.name}</bdi>
            </Link>
          </span>
        ))}
      </nav>
      <div className={file === '' ? 'stack' : 'split'}>
        <section className="stack" aria-label={`Folder ${storage}:${path}`}>
          <List of={{ ...folder, data: known }} more="More" empty={<Empty title="This folder is empty." />}>
            {(entries) => (
              <DataTable
                label={`Entries of ${storage}:${path}`}
                columns={columnsOf(file, hrefOf)}
                rows={entries}
                keyOf={({ id }) => id}
                hrefOf={hrefOf}
                isStale={isPlaceholderData}
              />
            )}
          </List>
        </section>
        {file !== '' && (
          <FilePanel
            key={`${account} ${storage} ${file}`}
            account={account}
            storage={storage}
            id={file}
            close={hrefWith({ file: '' })}
          />
        )}
      </div>
    </div>
  )
}

/** Only where there are several. */
function AccountChoice({ account }: { account: string }) {
  const { set } = useFilters()
  const accounts = useApi('GET /accounts', {})
  const names = accounts.data?.items.map(({ name }) => [name, name] as const) ?? []
  if (names.length < 2) return null
  const open = (name: string) => set({ account: name, path: '', file: '' })
  return <Choice label="Account" value={account} values={names} set={open} />
}

/** The folders above a path, from the root down. */
function listFolders(path: string): { name: string; path: string }[] {
  const names = path.split('/').filter((name) => name !== '')
  return names.map((name, index) => ({ name, path: `/${names.slice(0, index + 1).join('/')}` }))
}

/** The type gives way to the panel of a file. */
function columnsOf(file: string, hrefOf: (entry: File) => string): Column<File>[] {
  return [
    {
      title: 'Name',
      className: 'wide',
      cell: (entry) => (
        <Link href={hrefOf(entry)} aria-current={entry.id === file ? 'true' : undefined}>
          <bdi>{entry.name}</bdi>
          {entry.type === 'folder' && <span className="quiet">/</span>}
        </Link>
      ),
    },
    ...(file === '' ? [TYPE] : []),
    { title: 'Size', width: '90px', className: 'number', cell: ({ size }) => size !== null && formatBytes(size) },
    { title: 'Changed', width: '110px', cell: ({ modifiedAt }) => <When at={modifiedAt} /> },
  ]
}

const TYPE: Column<File> = {
  title: 'Type',
  width: '190px',
  className: 'spare quiet',
  cell: ({ type, mimeType }) => mimeType ?? type,
}
