import { Link, useLocation } from 'wouter'
import { useApi } from '../../api/use-api.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { Choice, Search } from '../../parts/find.tsx'
import { Empty } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page.tsx'
import { useMay } from '../../state/session.ts'
import { STORAGES, shellWord } from '../../words/format.ts'
import { FilePanel } from './file-panel.tsx'
import { askOf, Folder, type FolderQuery, useFolder } from './folder.tsx'
import { firstSide, hrefOf, listFolders, type OneSide, type Place, type Side, secondSide, usePlace } from './place.ts'

/** The files of the service, one folder or two side by side, asked of its Files API. */
export default function Files() {
  const mayLook = useMay('operator')
  const place = usePlace()
  if (mayLook) return place.beside ? <TwoFolders place={place} beside={place.beside} /> : <OneFolder place={place} />
  return (
    <div className="stack">
      <PageHead title="Files" />
      <Empty title="Names of files are payload.">
        <p>A viewer does not see them. They need the role operator.</p>
      </Empty>
    </div>
  )
}

const targetOf = ({ storage, path }: Side) => shellWord(`${storage}:${path}`)

/** A folder, with the panel of a file beside it. */
function OneFolder({ place }: { place: Place }) {
  const { account, storage, path, file } = place
  const [, go] = useLocation()
  const side = firstSide(place)
  const folder = useFolder(side)
  const besides = [['', 'Compare with…'], ...STORAGES.map((each) => [each, each] as const)] as const
  const open = (text: string) => go(side.hrefWith({ path: `/${text.replace(/^\/+|\/+$/g, '')}`, file: '' }))
  return (
    <div className="stack">
      <PageHead title="Files" isStill>
        {/* The same path of another storage. */}
        <Choice
          label="Compare with"
          value=""
          values={besides}
          set={(other) => go(hrefOf({ ...place, file: '', beside: { storage: other, path, file: '' } }))}
        />
        <ReadAgain folders={[folder]} />
        <CopyAs cli={`upshot files ls ${targetOf(side)}`} to="GET /files/:storage" input={askOf(side)} />
      </PageHead>
      <div className="row">
        <Storages side={side} />
        <AccountChoice place={place} />
        <Search label="Folder" placeholder="/reports/2026" given={path} submit={open} />
      </div>
      <Crumbs side={side} />
      <div className={file === '' ? 'stack' : 'split'}>
        <Folder folder={folder} side={side} />
        {file !== '' && <FilePanel key={`${account} ${storage} ${file}`} side={side} />}
      </div>
    </div>
  )
}

/** Two folders side by side, each entry with how it stands beside the other. */
function TwoFolders({ place, beside }: { place: Place; beside: Side }) {
  const [left, right] = [firstSide(place), secondSide(place, beside)]
  const one = useFolder(left)
  const other = useFolder(right)
  const looked = [left, right].find(({ file }) => file !== '')
  const command = `upshot files diff ${targetOf(place)} ${targetOf(beside)}`
  return (
    <div className="stack">
      <PageHead title="Files" isStill>
        <AccountChoice place={place} />
        <Link href={hrefOf({ ...place, beside: null })} className="button">
          Stop comparing
        </Link>
        <ReadAgain folders={[one, other]} />
        <CopyAs cli={command} to="GET /files/:storage" input={askOf(left)} />
      </PageHead>
      {looked && <FilePanel key={`${looked.storage} ${looked.file}`} side={looked} />}
      <div className="sides">
        {[
          { side: left, folder: one, beside: other },
          { side: right, folder: other, beside: one },
        ].map((each, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: left and right
          <div className="stack" key={index}>
            <Storages side={each.side} />
            <Crumbs side={each.side} />
            <Folder {...each} />
          </div>
        ))}
      </div>
      <p className="quiet">
        Names and sizes of these two folders are compared. The command line compares what is below them, and contents.
      </p>
    </div>
  )
}

function Storages({ side }: { side: OneSide }) {
  return (
    <nav className="tabs" aria-label="Storages">
      {STORAGES.map((storage) => (
        <Link
          key={storage}
          href={side.hrefWith({ storage, path: '/', file: '' })}
          aria-current={storage === side.storage ? 'true' : undefined}
        >
          {storage}
        </Link>
      ))}
    </nav>
  )
}

/** Only where there are several. */
function AccountChoice({ place }: { place: Place }) {
  const [, go] = useLocation()
  const accounts = useApi('GET /accounts', {})
  const names = accounts.data?.items.map(({ name }) => [name, name] as const) ?? []
  if (names.length < 2) return null
  const top = { path: '/', file: '' }
  const open = (account: string) =>
    go(hrefOf({ ...place, account, ...top, beside: place.beside && { ...place.beside, ...top } }))
  return <Choice label="Account" value={place.account} values={names} set={open} />
}

function Crumbs({ side }: { side: OneSide }) {
  return (
    <nav aria-label="Folders above" className="crumbs wrap">
      <Link href={side.hrefWith({ path: '/', file: '' })}>{side.storage}</Link>
      {listFolders(side.path).map(({ name, path }) => (
        <span key={path}>
          {' / '}
          <Link href={side.hrefWith({ path, file: '' })} aria-current={path === side.path ? 'page' : undefined}>
            <bdi>{name}</bdi>
          </Link>
        </span>
      ))}
    </nav>
  )
}

function ReadAgain({ folders }: { folders: readonly FolderQuery[] }) {
  return (
    <button
      type="button"
      onClick={() => void Promise.all(folders.map((folder) => folder.refetch()))}
      disabled={folders.some(({ isFetching }) => isFetching)}
    >
      Read again
    </button>
  )
}
