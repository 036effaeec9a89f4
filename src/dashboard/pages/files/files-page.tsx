import { type FormEvent, useEffect, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { urlOf } from '../../api/client.ts'
import { useApi, useList } from '../../api/use-api.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { Empty } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { useMay } from '../../state/session.ts'
import { shellWord } from '../../words/shell-word.ts'
import { FilePanel } from './file-panel.tsx'
import { Folder } from './folder.tsx'
import { hrefOf, listFolders, type Place, STORAGES, usePlace } from './place.ts'

/** The files of the service, a folder at a time, asked of its Files API. */
export default function Files() {
  const mayLook = useMay('operator')
  if (mayLook) return <Browser />
  return (
    <div className="stack">
      <PageHead title="Files" />
      <Empty title="Names of files are payload.">
        <p>A viewer does not see them. They need the role operator.</p>
      </Empty>
    </div>
  )
}

function Browser() {
  const place = usePlace()
  const { account, storage, path, file } = place
  const input = { params: { storage }, query: { account, path } }
  const target = shellWord(`${storage}:${path}`)
  const folder = useList('GET /files/:storage', input, { isStill: true })
  return (
    <div className="stack">
      <PageHead title="Files" isStill>
        <button type="button" onClick={() => void folder.refetch()} disabled={folder.isFetching}>
          Read again
        </button>
        <CopyAs cli={`upshot files ls ${target}`} url={urlOf('GET /files/:storage', input)} />
      </PageHead>
      <div className="row">
        <nav className="tabs" aria-label="Storages">
          {STORAGES.map((each) => (
            <Link
              key={each}
              href={hrefOf({ account, storage: each, path: '/', file: '' })}
              aria-current={each === storage ? 'true' : undefined}
            >
              {each}
            </Link>
          ))}
        </nav>
        <AccountChoice place={place} />
        <GoTo place={place} />
      </div>
      <Crumbs place={place} />
      <div className={file === '' ? 'stack' : 'split'}>
        <Folder folder={folder} place={place} />
        {file !== '' && <FilePanel key={`${account} ${storage} ${file}`} place={place} />}
      </div>
    </div>
  )
}

/** Only where there are several. */
function AccountChoice({ place }: { place: Place }) {
  const [, go] = useLocation()
  const accounts = useApi('GET /accounts', {})
  const names = accounts.data?.items.map(({ name }) => name) ?? []
  if (names.length < 2) return null
  return (
    <select
      aria-label="Account"
      value={place.account}
      onChange={(event) => go(hrefOf({ ...place, account: event.target.value, path: '/', file: '' }))}
    >
      {names.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  )
}

/** The folder as text: a path that is typed or pasted opens. */
function GoTo({ place }: { place: Place }) {
  const [, go] = useLocation()
  const [text, setText] = useState(place.path)
  useEffect(() => setText(place.path), [place.path])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const path = text.trim().replace(/\/+$/, '')
    go(hrefOf({ ...place, path: path.startsWith('/') ? path : `/${path}`, file: '' }))
  }
  return (
    <form className="find grow" onSubmit={submit}>
      <input
        data-key="/"
        className="mono"
        aria-label="Folder"
        placeholder="/reports/2026"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <kbd>/</kbd>
    </form>
  )
}

function Crumbs({ place }: { place: Place }) {
  const folders = listFolders(place.path)
  return (
    <nav aria-label="Folders above" className="crumbs wrap">
      <Link href={hrefOf({ ...place, path: '/', file: '' })}>{place.storage}</Link>
      {folders.map(({ name, path }) => (
        <span key={path}>
          {' / '}
          <Link href={hrefOf({ ...place, path, file: '' })} aria-current={path === place.path ? 'page' : undefined}>
            <bdi>{name}</bdi>
          </Link>
        </span>
      ))}
    </nav>
  )
}
