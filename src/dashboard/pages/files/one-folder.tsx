import { type FormEvent, useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { urlOf } from '../../api/client.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { shellWord } from '../../words/shell-word.ts'
import { FilePanel } from './file-panel.tsx'
import { Folder } from './folder.tsx'
import { AccountChoice, Crumbs, ReadAgain, Storages } from './folder-parts.tsx'
import { firstSide, hrefOf, type OneSide, type Place, STORAGES } from './place.ts'
import { askOf, useFolder } from './use-folder.ts'

/** A folder, with the panel of a file beside it. */
export function OneFolder({ place }: { place: Place }) {
  const { account, storage, path, file } = place
  const side = firstSide(place)
  const folder = useFolder(side)
  const target = shellWord(`${storage}:${path}`)
  return (
    <div className="stack">
      <PageHead title="Files" isStill>
        <CompareWith place={place} />
        <ReadAgain folders={[folder]} />
        <CopyAs cli={`upshot files ls ${target}`} url={urlOf('GET /files/:storage', askOf(side))} />
      </PageHead>
      <div className="row">
        <Storages side={side} />
        <AccountChoice place={place} />
        <GoTo side={side} />
      </div>
      <Crumbs side={side} />
      <div className={file === '' ? 'stack' : 'split'}>
        <Folder folder={folder} side={side} marks={null} />
        {file !== '' && <FilePanel key={`${account} ${storage} ${file}`} side={side} />}
      </div>
    </div>
  )
}

/** Opens a second folder beside this one: the same path of another storage. */
function CompareWith({ place }: { place: Place }) {
  const [, go] = useLocation()
  return (
    <select
      aria-label="Compare with"
      value=""
      onChange={(event) =>
        go(hrefOf({ ...place, file: '', beside: { storage: event.target.value, path: place.path, file: '' } }))
      }
    >
      <option value="">Compare with…</option>
      {STORAGES.map((storage) => (
        <option key={storage}>{storage}</option>
      ))}
    </select>
  )
}

/** The folder as text: a path that is typed or pasted opens. */
function GoTo({ side }: { side: OneSide }) {
  const [, go] = useLocation()
  const [text, setText] = useState(side.path)
  useEffect(() => setText(side.path), [side.path])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const path = text.trim().replace(/\/+$/, '')
    go(side.hrefWith({ path: path.startsWith('/') ? path : `/${path}`, file: '' }))
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
